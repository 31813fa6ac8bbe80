"""Evidence rankers that need an encoder. The interface of rankers is in the annotation app."""
