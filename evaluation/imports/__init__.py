"""Import formats for published ratings (`annotation.imports`)."""
