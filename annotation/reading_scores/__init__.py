"""Machine readings compared with what people decided: precision, recall and F1 of each class, by model."""
