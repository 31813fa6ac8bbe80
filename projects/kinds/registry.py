"""Registry of task kinds, discovered in the folders of the apps."""

from api.registry import Registry

from .kind import Kind

_KINDS = Registry(Kind, "kind", module="kind")
get = _KINDS.get


def discover(package: str) -> None:
    """Register the kinds of a package. Each folder is one kind: its ``kind.py`` holds a class that extends `Kind`.

    Called from ``AppConfig.ready``.
    """
    _KINDS.discover(package)


def all_kinds() -> list[Kind]:
    """Return all kinds. A kind that depends on the values of others (`Kind.judged_by`) comes after them."""
    return sorted(_KINDS.every(), key=lambda kind: (_depth(kind), kind.key))


def choices() -> list[tuple[str, str]]:
    """Return (key, title) of each kind, for a choice field."""
    return [(kind.key, kind.title) for kind in all_kinds()]


def _depth(kind: Kind) -> int:
    return 1 + max((_depth(get(key)) for key in kind.judged_by), default=0)


def reason_in_words(kind: Kind, code: str) -> str:
    """Return the text of a skip reason, or its code if the kind no longer has it."""
    return next((reason.text for reason in kind.skip_reasons if reason.code == code), code)
