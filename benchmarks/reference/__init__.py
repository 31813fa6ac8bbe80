"""A minimal Django app for an annotation loop, with which Concord's rate is compared."""
