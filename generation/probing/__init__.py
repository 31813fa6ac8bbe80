"""Probes: which of two texts a summariser finds likelier."""
