"""Mappings of the columns of own corpora: guessed, tried on the first rows, checked on all, and saved by name."""
