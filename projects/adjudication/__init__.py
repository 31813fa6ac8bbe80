"""What a curator decides of a closed round: which units wait, what was answered of each, and what it came to.

A unit waits where the newest word on one of its fields is a contest, or where somebody flagged an answer and nobody has
settled that. Writing is in `projects.actions.adjudication`.
"""
