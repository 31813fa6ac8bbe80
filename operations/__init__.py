"""What an administrator does with an installation: try it, start it, back it up, restore it, drive it by robots."""
