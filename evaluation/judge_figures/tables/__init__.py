"""Report tables of judges, built from stored figures only."""
