"""The verbs of human evaluation."""
