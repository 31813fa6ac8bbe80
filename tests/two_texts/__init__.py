"""A task kind that only the tests know, as an app of its own: what a kind is that somebody adds."""
