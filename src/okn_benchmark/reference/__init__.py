"""Ground truth: built once per endpoint and query text, cached, checked for drift."""
