"""What is typed or pasted into the corpus by hand, and taken out again."""
