"""The design of a rating round: compared systems, sources, pages and their texts."""
