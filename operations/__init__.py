"""Administration of an installation: demo, supervisor, backup and restore, and simulated annotators."""
