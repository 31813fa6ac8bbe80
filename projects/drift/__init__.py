"""Accuracy of people on returning gold items during a round (docs/decisions/0034-returning-gold-items.md)."""
