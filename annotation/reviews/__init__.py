"""Pages of reviews and of their studies: texts with spans, and the effects of interventions on outcomes."""
