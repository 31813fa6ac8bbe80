"""The sets of suggestions of a project: their list, and files of a lab's own models."""
