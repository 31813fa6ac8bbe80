"""The kind that compares two summaries side by side."""
