"""Systems, runs and outputs in JSON."""
