"""What a release is made of: one state of the data, the seal that covers it, and what to look at before."""
