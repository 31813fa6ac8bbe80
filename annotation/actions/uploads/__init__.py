"""What people send to a corpus: each module declares one upload."""
