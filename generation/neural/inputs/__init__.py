"""Convert the texts of a unit to tokens: reading, truncation and chat templates."""
