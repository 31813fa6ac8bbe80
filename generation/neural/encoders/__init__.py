"""Encoders of inputs, sentences, words and directions."""
