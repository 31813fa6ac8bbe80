"""What a model judge is worth beside the raters of an unblinded round (`measures.judges`)."""
