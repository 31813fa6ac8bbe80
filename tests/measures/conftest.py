"""Fixtures of the tests of `measures`."""

from collections.abc import Iterator

import pytest

from measures import former


@pytest.fixture
def former_rule() -> Iterator[None]:
    """Compute intervals by the former rule, by which old releases were made."""
    with former.rule():
        yield
