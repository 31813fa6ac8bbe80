"""What people send to a project: each module declares one upload."""
