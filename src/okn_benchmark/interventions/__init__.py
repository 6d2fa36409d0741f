"""Interventions at the wire: what an arm declares, and the pure functions that do it to a server's messages."""
