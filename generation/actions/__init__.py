"""The verbs of this app."""
