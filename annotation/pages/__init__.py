"""What a page of the corpus shows: read in a number of queries that does not grow with the rows."""
