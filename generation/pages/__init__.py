"""What pages show of systems, runs, outputs and results. Nothing here writes, and no action reads it."""
