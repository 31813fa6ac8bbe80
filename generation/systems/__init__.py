"""Systems and their versions, and the presets of versions."""
