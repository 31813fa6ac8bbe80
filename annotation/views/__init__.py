"""HTTP: parse, permit, one action or reading, respond."""
