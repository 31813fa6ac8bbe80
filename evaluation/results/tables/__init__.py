"""Report tables of ratings, built from stored results only."""
