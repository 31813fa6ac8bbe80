"""A job may take so much memory and no more: it fails alone, before the machine ends its worker and what comes next.

The limit is the system's own, on what a process allocates (RLIMIT_DATA, which Linux counts for all private memory);
elsewhere nothing is limited, and a container's limit is what there is.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "linux":
    import resource
STATUS = Path("/proc/self/status")


@contextmanager
def at_most(mebibytes: int) -> Iterator[None]:
    """Inside, what the process holds may grow by so much; `MemoryError` is raised beyond. 0: without a limit."""
    if not mebibytes or sys.platform != "linux" or not STATUS.exists():
        yield
        return
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = _held() + mebibytes * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _held() -> int:
    """What this process has allocated, in bytes."""
    found = re.search(r"^VmData:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
