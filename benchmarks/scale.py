"""`python -m benchmarks.scale --reviews N`: import documents like those of MS^2 (M3, level 1).

Prints CPU time compared with a bare reader of the same file in the same run, peak memory at N and at N / 4 reviews,
rows per second, and on SQLite the longest wait of another writer.
"""

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .loop import texts
from .places import on_each, place
from .report import Found, say, table

#: Lengths of abstracts in the sample of MS^2, in characters.
LENGTHS = (729, 919, 1089, 1144, 1662, 1905, 1916, 1922, 1966, 2074, 2099, 2140, 2790, 11081)
#: Largest number of studies of a review. Their logarithm is normal, with 23 studies on average.
MOST_STUDIES, MEAN_LOG, DEVIATION = 401, 2.72, 0.9
AIM, MEMORY, MOST_MEMORY, WAIT = 5.0, 32.0, 500.0, 1.0
BARE = """
import json, sys, time
begun = time.process_time()
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        json.loads(line)
print(time.process_time() - begun)
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


def measure(engine: str, server: str, path: Path) -> dict[str, Any]:
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
    return figures


def run(reviews: int, engines: tuple[str, ...]) -> Found:
    found = Found()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        files = {size: Path(name) / f"{size}.jsonl" for size in (reviews // 4, reviews)}
        for size, path in files.items():
            write_file(path, size)
        megabytes = files[reviews].stat().st_size / 1e6

        def of_engine(engine: str, server: str) -> None:
            done = subprocess.run(
                [sys.executable, "-c", BARE, files[reviews]], capture_output=True, text=True, check=True
            )
            bare = float(done.stdout)
            ours = {size: measure(engine, server, path) for size, path in files.items()}
            whole, grown = ours[reviews], ours[reviews]["peak_mb"] - ours[reviews // 4]["peak_mb"]
            found.figures[engine] = {"bare": bare, "ours": ours}
            say(f"    {engine}: bare {bare:.1f} s, {ours}")
            what = f"scale, {engine}, {reviews:,} reviews, {megabytes:,.0f} MB"
            found.at_most(f"{what}: CPU / json.loads", whole["cpu"] / bare, AIM)
            found.at_most(f"{what}: memory beside a quarter", grown, MEMORY, " MB more")
            found.at_most(f"{what}: peak memory", whole["peak_mb"], MOST_MEMORY, " MB")
            if "longest_wait" in whole:
                found.at_most(f"{what}: longest wait of another writer", whole["longest_wait"], WAIT, " s")
            rate = whole["rows"] / whole["wall"]
            found.told(f"{what}: time", f"{whole['wall'] / 60:.1f} min, {rate:,.0f} rows/s")

        on_each(engines, found.skipped, of_engine)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--reviews", type=int, default=2_000)
    parser.add_argument("--engines", nargs="+", choices=["sqlite", "postgres"], default=["sqlite", "postgres"])
    parser.add_argument("--writer", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.writer:
        wait_as_writer(given.writer)
        return
    found = run(given.reviews, tuple(given.engines))
    print(table(found.lines))
    for skipped in found.skipped:
        print(f"skipped: {skipped}")


if __name__ == "__main__":
    main()
