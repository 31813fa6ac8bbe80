"""What an attacker does beside people at work: one module a kind, each bound in count and time, on loopback only."""
