"""Checkpoints: strict loading from a folder or the hub, and settings of each model family."""
