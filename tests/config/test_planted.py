"""The list of planted faults does not rot: each can still be planted."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings

from tests.planted.faults import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_a_fault_replaces_stands_exactly_once_in_its_file(fault: Fault) -> None:
    text = (Path(settings.ROOT) / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    assert fault.new != fault.old
    if fault.file.endswith(".py"):
        ast.parse(text.replace(fault.old, fault.new))


def test_there_are_twenty_at_least_all_over_the_product() -> None:
    assert len(FAULTS) >= 20
    assert max(Counter(fault.name for fault in FAULTS).values()) == 1
    rooms = {fault.file.split("/")[0] for fault in FAULTS}
    assert {"accounts", "annotation", "audit", "frontend", "generation", "measures", "projects", "releases"} <= rooms
