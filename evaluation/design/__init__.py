"""What a rating round rates: entrants, sources, pages and their texts, planned from a seed and stored."""
