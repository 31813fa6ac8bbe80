"""Readings of texts by local models: classes of sentences, spans, effects, and fitness of reviews."""
