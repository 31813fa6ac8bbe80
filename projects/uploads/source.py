"""A file that is to be read: where its bytes lie, what they are, and what people call it."""

from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """A file to import: where its bytes lie, and the name by which people know it."""

    path: Path
    name: str
    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path, name: str | None = None) -> "Source":
        """Raises OSError where the file cannot be read."""
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return cls(path, name or path.name, path.stat().st_size, digest)
