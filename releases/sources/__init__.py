"""Data sources of a release: the snapshot, its audit checkpoint, blinding, and the checks before a release."""
