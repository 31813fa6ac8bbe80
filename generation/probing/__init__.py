"""Probes: likelihoods of texts under a summariser, and which of two texts is more likely."""
