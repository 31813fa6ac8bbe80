"""What a curator decides of a closed round: which units wait, and what was answered and decided of each."""
