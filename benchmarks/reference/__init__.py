"""A bare Django app that does the least an annotator's loop can do: what Concord's rate is measured against."""
