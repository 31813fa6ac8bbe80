"""Rankers of evidence that need a model: annotation knows what a ranker is, encoders are known here."""
