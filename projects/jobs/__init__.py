"""Background jobs: queueing, execution, fenced writes and memory limits."""
