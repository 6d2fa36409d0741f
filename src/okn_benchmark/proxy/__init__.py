"""The filtering MCP proxy: a relay of messages with five places where it acts."""
