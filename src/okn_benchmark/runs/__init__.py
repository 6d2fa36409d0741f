"""The runs tree: every path, every file shape, and the two writers that may touch them."""
