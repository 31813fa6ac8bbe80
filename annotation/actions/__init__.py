"""The verbs of the corpus: each one transaction, keyword-only, raising a ``Problem`` when it refuses."""
