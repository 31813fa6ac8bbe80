"""The loaded summarisers of the backends with weights."""
