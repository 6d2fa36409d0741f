"""A small MCP server over the sample graphs."""
