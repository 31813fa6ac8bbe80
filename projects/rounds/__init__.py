"""What a round asks, of whom, and what is said in it: units, slots, cards, practice, the answers that count."""
