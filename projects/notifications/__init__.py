"""Who is told what is new: written by the verbs concerned, read as one list, and sent as a digest."""
