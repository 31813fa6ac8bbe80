"""A release as a folder: manifest, archive, data dictionary, differences. This package needs no database."""
