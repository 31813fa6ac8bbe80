"""Rounds: planning, opening, preparation, progress and closing."""
