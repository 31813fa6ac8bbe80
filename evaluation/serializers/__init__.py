"""The shapes of human evaluation in JSON."""
