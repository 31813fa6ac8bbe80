"""The verbs: each one transaction, keyword-only, raising a ``Problem`` when it refuses."""
