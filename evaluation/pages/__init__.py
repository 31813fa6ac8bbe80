"""What the pages of human evaluation show; writes nothing, and no action reads it."""
