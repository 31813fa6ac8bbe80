"""What summarisers are: versions by their hash, and those to begin with."""
