"""Weights of a folder or of the hub, loaded strictly, and what is peculiar to each family."""
