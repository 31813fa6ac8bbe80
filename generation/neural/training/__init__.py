"""Training of local models with transformers' Trainer."""
