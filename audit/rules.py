"""What must follow from rows that never change: pointers that may be moved are checked against them.

An app above registers a rule in its ``AppConfig.ready``: a function that gives (row, what is wrong with it).
"""

from collections.abc import Callable, Iterator

Rule = Callable[[], Iterator[tuple[str, str]]]
_rules: list[Rule] = []


def register(rule: Rule) -> None:
    _rules.append(rule)


def broken() -> Iterator[tuple[str, str]]:
    """Everything that breaks a rule."""
    for rule in _rules:
        yield from rule()
