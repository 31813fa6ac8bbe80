"""The kind that chooses the best and the worst of four summaries."""
