"""The tables of how a corpus came to be, one module each."""
