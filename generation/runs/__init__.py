"""Runs of versions: progress, chunks, concurrency, and models cached by a worker."""
