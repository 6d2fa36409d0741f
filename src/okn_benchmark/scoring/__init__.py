"""The judge: whether a submitted table denotes the same thing as the key. Pure."""
