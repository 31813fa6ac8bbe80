"""What is asked for by its address: parse, permit, one action or page, respond."""
