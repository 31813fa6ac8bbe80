"""Files that are too large are refused with little memory (reliability row 26)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.annotation.m3_files import as_bytes, cluster

pytestmark = pytest.mark.row(26)
#: Allowed memory of a process in MiB.
MOST = 300
#: Checks a file as the worker does and prints the refusal and the peak memory.
CHECK = """
import json, re, resource, sys
import django
django.setup()
from pathlib import Path
from annotation.imports.actions import check_files
from projects.uploads.files import Source
checked = check_files(project=None, format="m3", sources=[Source.of(Path(sys.argv[1]))])
faults = [[f.line, f.field, f.message] for f in checked.faults]
# Linux carries the peak of getrusage over from the process that started this one; VmHWM begins anew.
status = Path("/proc/self/status")
peak = (
    int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1]) / 1024
    if status.exists()
    else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
)
print(json.dumps({"faults": faults, "peak": peak}))
"""


def check(path: Path) -> tuple[list[list[object]], float]:
    """Return the faults of a file and the peak memory in MiB, in a separate process."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(settings.ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", CHECK, str(path)],
        env=environment,
        cwd=settings.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    return said["faults"], said["peak"]


def test_a_line_of_100_mb_is_refused_and_the_rest_still_read(tmp_path: Path) -> None:
    whole = as_bytes([cluster("26258610_0")])
    with (tmp_path / "long.jsonl").open("wb") as file:
        file.write(whole + b'{"docid": "26258610_1", "target_text": "')
        for _ in range(100):
            file.write(b"a" * 1_000_000)
        file.write(b'"}\n' + as_bytes([cluster("26258610_2"), cluster("x")]))
    faults, peak = check(tmp_path / "long.jsonl")
    assert [(line, field) for line, field, _ in faults] == [(2, "line"), (4, "docid")]
    assert peak < MOST


def test_a_record_of_100_000_columns_is_refused(tmp_path: Path) -> None:
    many = cluster() | {f"column {n}": "x" for n in range(100_000)}
    (tmp_path / "wide.jsonl").write_bytes(as_bytes([many]))
    faults, peak = check(tmp_path / "wide.jsonl")
    assert any("more unknown keys" in str(message) for _, _, message in faults)
    assert peak < MOST


@pytest.mark.parametrize(
    "value", ["{}", *(pytest.param(value, marks=pytest.mark.long) for value in ("[]", '""', "1.5"))]
)
def test_a_line_that_would_grow_in_memory_is_refused(tmp_path: Path, value: str) -> None:
    """Sixteen MiB of empty objects would take half a GiB."""
    many = (16 * 2**20 - 100) // (len(value) + 1)
    line = f'{{"docid": [{",".join([value] * many)}]}}\n'.encode()
    (tmp_path / "grows.jsonl").write_bytes(line + as_bytes([cluster("26258610_0")]))
    faults, peak = check(tmp_path / "grows.jsonl")
    assert peak < MOST
    assert [(number, field) for number, field, _ in faults] == [(1, "line")]
    assert "values" in str(faults[0][2])
