"""`python -m benchmarks.scale --reviews N`: documents like those of MS^2 (M3, level 1), from import to release.

Measured: CPU time of import and release against a bare reader and writer of the same lines in the same run; peak
memory at N and at N / 4 reviews; on SQLite the longest wait of another writer; annotators of another project beside the
import; requests of pages at N and at N / 100 reviews.
"""

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from .beside import People, Site
from .beside import measure as measure_beside
from .loop import texts
from .places import ROOT, Place, on_each, place
from .report import Found, say, table

#: Lengths of abstracts in the sample of MS^2, in characters.
LENGTHS = (729, 919, 1089, 1144, 1662, 1905, 1916, 1922, 1966, 2074, 2099, 2140, 2790, 11081)
#: Largest number of studies of a review. Their logarithm is normal, with 23 studies on average.
MOST_STUDIES, MEAN_LOG, DEVIATION = 401, 2.72, 0.9
AIM, RELEASE_AIM, MEMORY, MOST_MEMORY, WAIT = 5.0, 3.0, 32.0, 500.0, 1.0
#: Share of the rate of annotators that must remain; growth of the time of a request; memory of a request in MB.
KEPT, GROWTH, REQUEST_MEMORY = 0.5, 3.0, 200.0
#: Requests that take less CPU time count as this number of seconds, because PostgreSQL's is measured in 10 ms.
SHORTEST = 0.02
IMPORTING = "importing"
PARTS = ("import", "people", "pages")
#: Print the CPU time of reading all lines, and of writing them. The objects are parsed again in parts before writing.
BARE = """
import itertools, json, sys, tempfile, time
reading = writing = 0.0
with open(sys.argv[1], encoding="utf-8") as file, tempfile.TemporaryFile() as out:
    while True:
        begun = time.process_time()
        items = [json.loads(line) for line in itertools.islice(file, 20)]
        reading += time.process_time() - begun
        if not items:
            break
        begun = time.process_time()
        for item in items:
            out.write(json.dumps(item, ensure_ascii=False).encode() + b"\\n")
        writing += time.process_time() - begun
print(json.dumps([reading, writing]))
"""


def write_file(path: Path, reviews: int) -> None:
    rng, words = random.Random(3), " ".join(texts()).split()
    prose = " ".join(rng.choice(words) for _ in range(200_000))

    def text() -> str:
        length = rng.choice(LENGTHS)
        start = rng.randrange(len(prose) - length)
        return prose[start : start + length].strip() or "x"

    with path.open("w", encoding="utf-8") as file:
        for number in range(reviews):
            drawn = int(rng.lognormvariate(MEAN_LOG, DEVIATION))
            count = {0: 1, 1: MOST_STUDIES}.get(number, min(max(drawn, 1), MOST_STUDIES))
            studies = [{"source_pmid": str(rng.randrange(10**6, 10**8)), "source_text": text()} for _ in range(count)]
            item = {
                "docid": str(20_000_000 + number),
                "target_text": text(),
                "input_text": " ||||| ".join(study["source_text"] for study in studies),
                "input_studies": studies,
            }
            file.write(json.dumps(item, ensure_ascii=False) + "\n")


def wait_as_writer(database: Path) -> None:
    """Write to a SQLite database until stdin closes, and print the longest wait for the lock in seconds."""
    connection, longest = sqlite3.connect(database, timeout=120, isolation_level=None), 0.0
    while not sys.stdin.closed and sys.stdin.readable():
        begun = time.monotonic()
        connection.execute("BEGIN IMMEDIATE")
        longest = max(longest, time.monotonic() - begun)
        connection.execute("UPDATE django_migrations SET applied = applied WHERE id = 1")
        connection.execute("COMMIT")
        print(longest, flush=True)
        time.sleep(0.05)


def bare(path: Path, repeats: int = 3) -> tuple[float, float]:
    """Return the median CPU times of a bare reader and of a bare writer of the lines of a file."""
    command = [sys.executable, "-c", BARE, str(path)]
    done = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(repeats)]
    reading, writing = zip(*map(json.loads, done), strict=True)
    return median(reading), median(writing)


def measure(engine: str, server: str, path: Path, *, release: bool, pages: bool) -> dict[str, Any]:
    """Import a file into a new database, with another writer beside it on SQLite."""
    with place("concord", server) as at:
        command = [sys.executable, "-m", "benchmarks.scale", "--writer", str(at.folder / "concord.sqlite3")]
        other = None if server else subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        figures: dict[str, Any] = {}
        try:
            figures = at.call("import_set", paths=[str(path)])
        finally:
            if other:
                other.kill()
                waits = other.communicate()[0].split()
                figures["longest_wait"] = float(waits[-1]) if waits else 0.0
        if release:
            figures["release"] = at.call("release_set", out=str(at.folder / "release"))
            figures["stored figures"] = at.call("figures_set")
        if pages:
            figures["pages"] = at.call("ask_pages")
    return figures


class ScaleSite(Site):
    """A server beside which a command imports a file into one new project after another."""

    def __init__(self, at: Place, plan: People, path: Path) -> None:
        super().__init__(at, plan)
        self.path = path

    @contextmanager
    def load(self, name: str) -> Iterator[dict[str, int]]:
        became, running, stop = {"imports": 0}, list[subprocess.Popen[bytes]](), threading.Event()

        def work() -> None:
            while not stop.is_set():
                became["imports"] += 1
                command = ["manage.py", "import_data", "m3", str(self.path), "--create"]
                command += ["--project", f"scale-{became['imports']}"]
                with (self.at.folder / "import.log").open("ab") as out:
                    running[:] = [
                        subprocess.Popen(
                            [sys.executable, *command], cwd=ROOT, env=self.at.environment, stdout=out, stderr=out
                        )
                    ]
                if running[0].wait() and not stop.is_set():
                    raise RuntimeError((self.at.folder / "import.log").read_text()[-2000:])

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield became
        finally:
            stop.set()
            for process in running:
                process.kill()
            thread.join()


def run(reviews: int, engines: tuple[str, ...], parts: Sequence[str] = PARTS) -> Found:
    found = Found()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        few, quarter = max(reviews // 100, 2), reviews // 4
        files = {size: Path(name) / f"{size}.jsonl" for size in (few, quarter, reviews)}
        for size, path in files.items():
            write_file(path, size)
        megabytes = files[reviews].stat().st_size / 1e6

        def of_engine(engine: str, server: str) -> None:
            what = f"scale, {engine}, {reviews:,} reviews, {megabytes:,.0f} MB"
            figures = found.figures.setdefault(engine, {})
            if "import" in parts or "pages" in parts:
                figures["bare"] = bare(files[reviews])
                with_pages = "pages" in parts
                figures[reviews] = measure(engine, server, files[reviews], release=True, pages=with_pages)
                say(f"    {engine}: bare {figures['bare']}, {_without_pages(figures[reviews])}")
            if "import" in parts:
                figures[quarter] = measure(engine, server, files[quarter], release=True, pages=False)
                say(f"    {engine}: {quarter:,} reviews: {figures[quarter]}")
                _tell_import(found, what, figures["bare"], figures[reviews], figures[quarter])
            if "pages" in parts:
                figures[few] = measure(engine, server, files[few], release=False, pages=True)
                _tell_pages(found, engine, what, figures[few]["pages"], figures[reviews]["pages"])
            if "people" in parts:
                plan = People(seconds=30, flat_out=5, units=2_000)
                with place("concord", server) as at:
                    beside = Found()
                    site = ScaleSite(at, plan, files[reviews])
                    alone, measured = measure_beside(engine, site, (IMPORTING,), beside)
                figures["people"] = beside.figures[engine]
                one = measured[IMPORTING]
                found.at_least(f"{what}: rate of annotators beside it / alone", alone.kept(one), KEPT)
                told = f"p95 x {alone.slower(one):.2f}; errors {one.errors}, lost {one.lost}; {one.became}"
                found.told(f"{what}: the same annotators", told)

        on_each(engines, found.skipped, of_engine)
    return found


def _without_pages(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name != "pages"}


def _tell_import(
    found: Found, what: str, bare_seconds: tuple[float, float], whole: dict[str, Any], quarter: dict[str, Any]
) -> None:
    reading, writing = bare_seconds
    found.at_most(f"{what}: CPU / json.loads", whole["cpu"] / reading, AIM)
    found.at_most(f"{what}: memory beside a quarter", whole["peak_mb"] - quarter["peak_mb"], MEMORY, " MB more")
    found.at_most(f"{what}: peak memory", whole["peak_mb"], MOST_MEMORY, " MB")
    if "longest_wait" in whole:
        found.at_most(f"{what}: longest wait of another writer", whole["longest_wait"], WAIT, " s")
    rate = whole["rows"] / whole["wall"]
    found.told(f"{what}: time", f"{whole['wall'] / 60:.1f} min, {rate:,.0f} rows/s")
    ours, grown = whole["release"], whole["release"]["peak_mb"] - quarter["release"]["peak_mb"]
    found.at_most(f"{what}: CPU of the release / json.dumps", ours["cpu"] / writing, RELEASE_AIM)
    found.at_most(f"{what}: memory of the release beside a quarter", grown, MEMORY, " MB more")
    found.at_most(f"{what}: peak memory of the release", ours["peak_mb"], MOST_MEMORY, " MB")
    found.told(f"{what}: digests of the rows", f"{ours['checkpoint']:.1f} s of CPU")
    stored = whole["stored figures"]
    found.told(f"{what}: stored figures", f"{stored['cpu']:.1f} s of CPU, {stored['peak_mb']:.0f} MB")


def _tell_pages(
    found: Found, engine: str, what: str, few: Sequence[dict[str, Any]], many: Sequence[dict[str, Any]]
) -> None:
    pairs = list(zip(few, many, strict=True))
    for small, large in pairs:
        say(
            f"    {engine}: {small['cpu']:.3f} / {large['cpu']:.3f} s, {large['queries']} queries, "
            f"{large['mb']:.0f} MB, {large['status']}: {large['request']}"
        )
    other = [large["request"] for small, large in pairs if small["queries"] != large["queries"]]
    found.at_most(f"{what}: requests with another number of queries {other or ''}".rstrip(), len(other), 0)
    growth = {large["request"]: large["cpu"] / max(small["cpu"], SHORTEST) for small, large in pairs}
    worst = max(growth, key=lambda name: growth[name])
    found.at_most(f"{what}: time of a request / at a hundredth ({worst})", growth[worst], GROWTH)
    found.at_most(f"{what}: most memory of a request", max(one["mb"] for one in many), REQUEST_MEMORY, " MB")
    found.at_most(f"{what}: requests that failed", sum(one["status"] >= 400 for one in many), 0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--reviews", type=int, default=2_000)
    parser.add_argument("--engines", nargs="+", choices=["sqlite", "postgres"], default=["sqlite", "postgres"])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--writer", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.writer:
        wait_as_writer(given.writer)
        return
    found = run(given.reviews, tuple(given.engines), given.parts)
    print(table(found.lines))
    for skipped in found.skipped:
        print(f"skipped: {skipped}")


if __name__ == "__main__":
    main()
