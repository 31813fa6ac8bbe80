"""Fine-tuning: start, run and finish trainings of local models."""
