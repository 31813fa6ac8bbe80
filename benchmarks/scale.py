"""`python -m benchmarks.scale --reviews N --form m3`: a corpus of the size of MS^2, from import to release.

The corpus has the form of M3's level 1, of MS^2 or of MSLR2022 (`benchmarks.corpora`).
Measured: CPU time of import and release against a bare reader and writer of the same rows in the same run; peak
memory at N and at N / 4 reviews; on SQLite the longest wait of another writer; annotators of another project beside the
import; requests of pages at N and at N / 100 reviews.
"""

import argparse
import json
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
from .corpora import WRITERS
from .places import ROOT, Place, on_each, place
from .report import Found, say, table

AIM, RELEASE_AIM, MEMORY, MOST_MEMORY, WAIT = 5.0, 3.0, 32.0, 500.0, 1.0
#: Share of the rate of annotators that must remain; growth of the time of a request; memory of a request in MB.
KEPT, GROWTH, REQUEST_MEMORY = 0.5, 3.0, 200.0
#: Requests that take less CPU time count as this number of seconds, because PostgreSQL's is measured in 10 ms.
SHORTEST = 0.02
IMPORTING = "importing"
PARTS = ("import", "people", "pages")
#: Print the CPU time of reading all rows, and of writing them, in parts: the time of each part is added.
BARE = """
import csv, itertools, json, sys, tempfile, time
csv.field_size_limit(2**24)
form, *paths = sys.argv[1:]
reading = writing = 0.0
for path in paths:
    with open(path, encoding="utf-8", newline="") as file, tempfile.TemporaryFile("w", encoding="utf-8") as out:
        rows = csv.reader(file) if form == "mslr" else map(json.loads, file)
        writer = csv.writer(out, lineterminator="\\n")
        while True:
            begun = time.process_time()
            items = list(itertools.islice(rows, 20))
            reading += time.process_time() - begun
            if not items:
                break
            begun = time.process_time()
            if form == "mslr":
                writer.writerows(items)
            else:
                for item in items:
                    out.write(json.dumps(item, ensure_ascii=form == "ms2") + "\\n")
            writing += time.process_time() - begun
print(json.dumps([reading, writing]))
"""


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


def bare(form: str, paths: Sequence[Path], repeats: int = 3) -> tuple[float, float]:
    """Return the median CPU times of a bare reader and of a bare writer of the rows of files."""
    command = [sys.executable, "-c", BARE, form, *map(str, paths)]
    done = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(repeats)]
    reading, writing = zip(*map(json.loads, done), strict=True)
    return median(reading), median(writing)


def measure(form: str, server: str, paths: Sequence[Path], *, release: bool, pages: bool) -> dict[str, Any]:
    """Import files into a new database, with another writer beside it on SQLite."""
    with place("concord", server) as at:
        command = [sys.executable, "-m", "benchmarks.scale", "--writer", str(at.folder / "concord.sqlite3")]
        other = None if server else subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        figures: dict[str, Any] = {}
        try:
            figures = at.call("import_set", form=form, paths=list(map(str, paths)))
        finally:
            if other:
                other.kill()
                waits = other.communicate()[0].split()
                figures["longest_wait"] = float(waits[-1]) if waits else 0.0
        if release:
            figures["release"] = at.call("release_set", out=str(at.folder / "release"))
            figures["bare parquet"] = at.call("bare_parquet", out=str(at.folder / "release"))
            figures["stored figures"] = at.call("figures_set")
        if pages:
            figures["pages"] = at.call("ask_pages")
    return figures


class ScaleSite(Site):
    """A server beside which a command imports a file into one new project after another."""

    def __init__(self, at: Place, plan: People, form: str, paths: Sequence[Path]) -> None:
        super().__init__(at, plan)
        self.form, self.paths = form, paths

    @contextmanager
    def load(self, name: str) -> Iterator[dict[str, int]]:
        became, running, stop = {"imports": 0}, list[subprocess.Popen[bytes]](), threading.Event()

        def work() -> None:
            while not stop.is_set():
                became["imports"] += 1
                command = ["manage.py", "import_data", self.form, *map(str, self.paths), "--create"]
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


def run(reviews: int, engines: tuple[str, ...], parts: Sequence[str] = PARTS, form: str = "m3") -> Found:
    found = Found()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        few, quarter = max(reviews // 100, 2), reviews // 4
        files = dict[int, list[Path]]()
        for size in {few, quarter, reviews}:
            (folder := Path(name) / str(size)).mkdir()
            files[size] = WRITERS[form](folder, size)
        megabytes = sum(path.stat().st_size for path in files[reviews]) / 1e6

        def of_engine(engine: str, server: str) -> None:
            what = f"scale of {form}, {engine}, {reviews:,} reviews, {megabytes:,.0f} MB"
            figures = found.figures.setdefault(engine, {})
            if "import" in parts or "pages" in parts:
                figures["bare"] = bare(form, files[reviews])
                with_pages = "pages" in parts
                figures[reviews] = measure(form, server, files[reviews], release=True, pages=with_pages)
                say(f"    {engine}: bare {figures['bare']}, {_without_pages(figures[reviews])}")
            if "import" in parts:
                figures[quarter] = measure(form, server, files[quarter], release=True, pages=False)
                say(f"    {engine}: {quarter:,} reviews: {figures[quarter]}")
                _tell_import(found, what, figures["bare"], figures[reviews], figures[quarter])
            if "pages" in parts:
                figures[few] = measure(form, server, files[few], release=False, pages=True)
                _tell_pages(found, engine, what, figures[few]["pages"], figures[reviews]["pages"])
            if "people" in parts:
                plan = People(seconds=30, flat_out=5, units=2_000)
                with place("concord", server) as at:
                    beside = Found()
                    site = ScaleSite(at, plan, form, files[reviews])
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
    found.at_most(f"{what}: CPU / bare reader", whole["cpu"] / reading, AIM)
    found.at_most(f"{what}: memory beside a quarter", whole["peak_mb"] - quarter["peak_mb"], MEMORY, " MB more")
    found.at_most(f"{what}: peak memory", whole["peak_mb"], MOST_MEMORY, " MB")
    if "longest_wait" in whole:
        found.at_most(f"{what}: longest wait of another writer", whole["longest_wait"], WAIT, " s")
    rate = whole["rows"] / whole["wall"]
    found.told(f"{what}: time", f"{whole['wall'] / 60:.1f} min, {rate:,.0f} rows/s")
    ours, grown = whole["release"], whole["release"]["peak_mb"] - quarter["release"]["peak_mb"]
    found.at_most(f"{what}: CPU of the release / bare writer", ours["cpu"] / writing, RELEASE_AIM)
    found.at_most(f"{what}: memory of the release beside a quarter", grown, MEMORY, " MB more")
    found.at_most(f"{what}: peak memory of the release", ours["peak_mb"], MOST_MEMORY, " MB")
    ratio = ours["parquet"] / whole["bare parquet"]["cpu"]
    found.at_most(f"{what}: CPU of Parquet / bare pyarrow", ratio, RELEASE_AIM)
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
    parser.add_argument("--form", choices=list(WRITERS), default="m3", help="form of the files")
    parser.add_argument("--engines", nargs="+", choices=["sqlite", "postgres"], default=["sqlite", "postgres"])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--writer", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.writer:
        wait_as_writer(given.writer)
        return
    found = run(given.reviews, tuple(given.engines), given.parts, given.form)
    print(table(found.lines))
    for skipped in found.skipped:
        print(f"skipped: {skipped}")


if __name__ == "__main__":
    main()
