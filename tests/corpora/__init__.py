"""The shipped records against the sample graphs."""
