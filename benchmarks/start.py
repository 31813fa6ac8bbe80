"""Measure the time from server start to first reply, the memory of an idle web server, and whether torch is
imported.
"""

from pathlib import Path
from statistics import median

from .places import place
from .report import Found, say


def run(repeats: int = 3) -> Found:
    """Measure gunicorn with two workers, as in the image, on SQLite."""
    found = Found()
    with place("concord") as at:
        times = []
        for _ in range(repeats):
            times.append(at.start())
            memory = at.memory_mb()
            torch = any("torch" in Path(f"/proc/{pid}/maps").read_text() for pid in at.processes())
            at.stop()
    with place("reference") as at:
        bare = at.start()
        bare_memory = at.memory_mb()
    found.figures = {
        "seconds": times,
        "idle_mb": memory,
        "torch": torch,
        "bare_seconds": bare,
        "bare_idle_mb": bare_memory,
    }
    say(f"    {found.figures}")
    found.at_most("start: server start to first answer", median(times), 3, " s")
    found.told("start: against the bare app's", f"{median(times) / bare:.3g}")
    found.at_most("start: idle memory of web, master and 2 workers", memory, 200, " MB")
    found.told("start: idle memory against the bare app's", f"{memory / bare_memory:.3g}")
    found.at_most("start: processes that loaded torch", int(torch), 0)
    return found
