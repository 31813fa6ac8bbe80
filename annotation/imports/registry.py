"""The formats that can be imported, found in the folders of the apps that have some."""

from api.registry import Registry

from .formats import Format

_FORMATS = Registry(Format, "format")
#: Make the formats of a package known: called from ``AppConfig.ready``.
discover = _FORMATS.discover
#: The format of a key; KeyError where there is none.
get = _FORMATS.get
every = _FORMATS.every


def choices() -> list[tuple[str, str]]:
    """Key and title of each format, for a field that takes one."""
    return [(format.key, format.title) for format in every()]
