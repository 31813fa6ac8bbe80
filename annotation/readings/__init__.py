"""What models say about the texts of a corpus: figures and tables."""
