"""Tokens out: the decoding in full, beams, and the caches that they share."""
