"""The shapes of JSON, in and out."""
