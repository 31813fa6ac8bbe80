"""Each planted fault still matches the code that it replaces."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings

from tests.planted.faults import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_code_of_a_fault_occurs_once_in_its_file(fault: Fault) -> None:
    text = (Path(settings.ROOT) / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    assert fault.new != fault.old
    if fault.file.endswith(".py"):
        ast.parse(text.replace(fault.old, fault.new))


def test_at_least_twenty_faults_cover_all_apps() -> None:
    assert len(FAULTS) >= 20
    assert max(Counter(fault.name for fault in FAULTS).values()) == 1
    apps = {fault.file.split("/")[0] for fault in FAULTS}
    assert {"accounts", "annotation", "audit", "frontend", "generation", "measures", "projects", "releases"} <= apps
