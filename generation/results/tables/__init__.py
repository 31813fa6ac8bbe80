"""The tables of automatic evaluation, one module each."""
