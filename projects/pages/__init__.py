"""What pages show; writes nothing, and no action reads it."""
