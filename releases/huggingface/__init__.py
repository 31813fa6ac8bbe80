"""A release as a data set of the Hugging Face hub: Parquet files, the head of the card, and Croissant."""
