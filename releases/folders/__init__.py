"""A release as a folder, whoever has it: manifest, archive, what its rows mean, what differs; no data base."""
