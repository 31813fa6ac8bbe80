"""Backups: database and files in one archive, and the restore. Backups do not contain the secret key."""
