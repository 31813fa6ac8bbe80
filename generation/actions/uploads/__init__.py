"""What people send of systems: each module declares one upload."""
