from collections.abc import Iterator

import pytest

from measures import former


@pytest.fixture
def former_rule() -> Iterator[None]:
    """Compute intervals by the former rule, as in old releases."""
    with former.rule():
        yield
