"""The corpus: lists, single objects, search and statistics."""
