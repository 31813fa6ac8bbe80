"""Backups: data base and files in one archive, and the way back. The secret key is in none of them."""
