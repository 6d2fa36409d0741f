"""Measure how well an agent answers prose questions with SPARQL, and what an MCP server's tools add to it."""

__version__ = "0.1.0"
