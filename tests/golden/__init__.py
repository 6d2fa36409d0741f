"""A small runs root with every illness a root can have."""
