"""The tables of what people said of summaries, made from stored figures alone."""
