"""Facts about a project, as plain values."""
