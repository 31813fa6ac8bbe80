"""What the corpus says: the values in force of its texts, what they come to together, and what is still missing."""
