"""Suggestions by models in correction rounds: which units show one, what people made of them, and the report."""
