"""The shape of JSON."""
