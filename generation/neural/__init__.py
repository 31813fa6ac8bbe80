"""Everything that imports torch. Only workers import these modules, and only when a version is loaded."""
