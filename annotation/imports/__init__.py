"""Import of published data sets. Each format is one module of a package that an app registers with `discover`."""

# Every import has the same steps (`annotation.imports.actions`). `Format.read` reads the whole file and collects all
# errors. `Parsed.compare` separates the items that the project already has. `Parsed.create_items` creates the remaining
# rows, which one short transaction writes. Unusual values that are no errors become notices and are imported unchanged.

from annotation.imports.format import choices, discover, every, get

from .format import Ask, Format, Level, Notice, Parsed

__all__ = ["Ask", "Format", "Level", "Notice", "Parsed", "choices", "discover", "every", "get"]
