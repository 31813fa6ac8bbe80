"""Results of a run: figures and targets, as a table and a file."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Line:
    """One target and the result. ``met`` is None if there is no target or no measurement."""

    what: str
    aim: str
    reached: str
    met: bool | None = None


@dataclass
class Found:
    """The result of one benchmark: its lines, all figures, and skipped measurements."""

    lines: list[Line] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def at_least(self, what: str, value: float, bound: float, unit: str = "") -> None:
        self.lines.append(Line(what, f">= {bound:g}{unit}", f"{value:.3g}{unit}", value >= bound))

    def at_most(self, what: str, value: float, bound: float, unit: str = "") -> None:
        self.lines.append(Line(what, f"<= {bound:g}{unit}", f"{value:.3g}{unit}", value <= bound))

    def told(self, what: str, reached: str) -> None:
        self.lines.append(Line(what, "", reached))


def quantile_ms(seconds: Sequence[float], share: float) -> float:
    """Return a quantile of times in milliseconds, or 0 without times. The times are in seconds."""
    ordered = sorted(seconds) or [0.0]
    return 1000 * ordered[int(share * (len(ordered) - 1))]


def say(text: str) -> None:
    print(text, flush=True)


def table(lines: Sequence[Line]) -> str:
    """Return a table of targets, results and whether they are met."""
    head = ("", "aim", "reached", "met?")
    rows = [head, *((x.what, x.aim, x.reached, {True: "yes", False: "NO", None: ""}[x.met]) for x in lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(r, widths, strict=True)).rstrip() for r in rows)


def keep(folder: Path, results: dict[str, Found], options: dict[str, Any]) -> Path:
    """Write ``<date>.json`` with all results."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    path = folder / f"{now:%Y-%m-%dT%H%M%SZ}.json"
    content = {
        "at": now.isoformat(timespec="seconds"),
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()},
        "options": options,
        "results": {name: asdict(found) for name, found in results.items()},
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path
