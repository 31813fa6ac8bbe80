"""Pictures of every page: run ``python -m tests.pictures`` (see `__main__`)."""
