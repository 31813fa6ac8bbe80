"""A robot that works in Concord as people and their scripts do: through the API only."""
