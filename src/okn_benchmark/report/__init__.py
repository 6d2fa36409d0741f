"""Pages and tables over what a runs root holds. Never scores."""
