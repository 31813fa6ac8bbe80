"""Statistics as pure functions over plain values. This package does not import Django."""
