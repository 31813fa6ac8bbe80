"""The kinds that exist, found in the folders of the apps that have some."""

from importlib import import_module
from pkgutil import iter_modules

from audit import triggers

from .kind import Kind

_kinds: dict[str, Kind] = {}


def discover(package: str) -> None:
    """Make the kinds of a package known: each of its folders is one, with a class that extends `Kind` in its
    ``kind.py``. Called from ``AppConfig.ready``; the data base refuses changes of the rows of their tables.
    """
    for folder in iter_modules(import_module(package).__path__, f"{package}."):
        if folder.ispkg:
            module = import_module(f"{folder.name}.kind")
            for found in vars(module).values():
                if isinstance(found, type) and issubclass(found, Kind) and found.__module__ == module.__name__:
                    register(found())


def register(kind: Kind) -> None:
    """Make one kind known, once."""
    if kind.key in _kinds:
        raise ValueError(f"The kind {kind.key!r} is registered twice.")
    _kinds[kind.key] = kind
    triggers.guard(*(table._meta.db_table for table in kind.tables))


def get(key: str) -> Kind:
    """The kind of that key; KeyError where there is none."""
    return _kinds[key]


def all_kinds() -> list[Kind]:
    """All kinds; one that is judged by another's values comes after it."""
    return sorted(_kinds.values(), key=lambda kind: (_depth(kind), kind.key))


def choices() -> list[tuple[str, str]]:
    """Key and title of each kind, for a field that takes one."""
    return [(kind.key, kind.title) for kind in all_kinds()]


def _depth(kind: Kind) -> int:
    return 1 + max((_depth(_kinds[key]) for key in kind.judged_by), default=0)


def reason_in_words(kind: Kind, code: str) -> str:
    """Why a unit was skipped, as the person read it; the code itself where the kind no longer has it."""
    return next((reason.text for reason in kind.skip_reasons if reason.code == code), code)
