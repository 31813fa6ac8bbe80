"""What summaries and probes came to: what metrics are handed, means, and systems compared."""
