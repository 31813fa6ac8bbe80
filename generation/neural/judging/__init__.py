"""Likelihoods of given texts. Several texts of one source are judged in one pass."""
