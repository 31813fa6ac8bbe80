"""The methods text of a project: facts from rows, sentences from facts, and files from sentences."""
