"""The page of an origin: where a text, label, summary or rating comes from, and which rows of releases have it."""
