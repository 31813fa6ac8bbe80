"""Suggestions for correction rounds, from chat models, machine readings and files (docs/decisions/0037)."""
