"""Consistency rules: changeable pointers are checked against append-only rows.

Other apps register rules in their ``AppConfig.ready``. A rule is a function that yields (row, message).
"""

from collections.abc import Callable, Iterator

Rule = Callable[[], Iterator[tuple[str, str]]]
_rules: list[Rule] = []


def register(rule: Rule) -> None:
    _rules.append(rule)


def violations() -> Iterator[tuple[str, str]]:
    """Yield all violations of the registered rules."""
    for rule in _rules:
        yield from rule()
