"""How likely given texts are: several of one source in one pass."""
