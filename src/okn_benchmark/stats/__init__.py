"""Intervals, paired tests and planning. Pure arithmetic over numbers."""
