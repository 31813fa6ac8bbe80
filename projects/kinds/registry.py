"""The kinds that exist, found in the folders of the apps that have some."""

from api.registry import Registry
from audit import triggers

from .kind import Kind

_KINDS = Registry(Kind, "kind", module="kind")
get = _KINDS.get


def discover(package: str) -> None:
    """Make the kinds of a package known: each of its folders is one, with a class that extends `Kind` in its
    ``kind.py``. Called from ``AppConfig.ready``; the data base refuses changes of the rows of their tables.
    """
    for kind in _KINDS.discover(package):
        triggers.guard(*(table._meta.db_table for table in kind.tables))


def all_kinds() -> list[Kind]:
    """All kinds; one that is judged by another's values comes after it."""
    return sorted(_KINDS.every(), key=lambda kind: (_depth(kind), kind.key))


def choices() -> list[tuple[str, str]]:
    """Key and title of each kind, for a field that takes one."""
    return [(kind.key, kind.title) for kind in all_kinds()]


def _depth(kind: Kind) -> int:
    return 1 + max((_depth(get(key)) for key in kind.judged_by), default=0)


def reason_in_words(kind: Kind, code: str) -> str:
    """Why a unit was skipped, as the person read it; the code itself where the kind no longer has it."""
    return next((reason.text for reason in kind.skip_reasons if reason.code == code), code)
