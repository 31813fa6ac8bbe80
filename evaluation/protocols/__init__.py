"""What a protocol of human evaluation says: its parts, what they must agree on, and protocols to begin with."""
