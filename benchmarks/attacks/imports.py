"""Check and import an M3 file of one line whose cues take long to locate in their texts."""

import json
import time
from typing import Any

from .bounds import Attack, multipart

#: Characters of a text and of its cues. The line has 0.72 MB.
ONE = ((200_000, 160_000),)
#: The same work in many propositions of ordinary size.
MANY = ((10_000, 6_000),) * 22
#: Seconds between two polls of a job, and timeout of a check.
LOOK, PATIENCE = 0.5, 120.0
ENDED = ("done", "failed", "cancelled")


def line(number: int, sizes: tuple[tuple[int, int], ...]) -> bytes:
    """Return one cluster of level 3 whose cues and half of whose texts repeat a single letter."""
    studies = [
        {
            "source_pmid": str(1000 + n),
            "source_text": "a" * size,
            "source_direction": "positive",
            "source_modality": "weak",
            "source_direction_span": "a" * cue,
            "source_modality_span": "a" * cue,
        }
        for n, (size, cue) in enumerate(sizes)
    ]
    record = {
        "docid": f"{20_000_000 + number}_0",
        "pico": {"p": "", "i": "a", "c": "[placebo]", "o": "a"},
        "discourse_relation": "agreement",
        "target_modality": "moderate",
        "target_direction": "positive",
        "target_modality_span": "",
        "target_direction_span": "a",
        "target_text": "a b",
        "input_text": " ||||| ".join(s["source_text"] for s in studies),
        "input_studies": studies,
    }
    return json.dumps(record).encode() + b"\n"


def quadratic(attack: Attack) -> None:
    """Import a checked file, and check further files during the import.

    Files with one line and with many propositions alternate, one every ten seconds.
    """
    for number in attack.strikes(10.0):
        if number > 1:
            _upload(attack, number)
        elif READY:
            _confirm(attack, READY.pop())


#: Jobs of checks that ended before the measurement.
READY: list[int] = []


def prepare(attack: Attack) -> None:
    """Check one file before the measurement, because the import, not the check, blocked other writes."""
    status, found = _upload(attack, 0)
    until = time.monotonic() + PATIENCE
    while status == 202 and time.monotonic() < until:
        job = json.loads(attack.ask("GET", f"/api/v1/jobs/{json.loads(found)['id']}/")[1])
        if job["status"] in ENDED:
            attack.note(f"check before: {job['status']}")
            if job["status"] == "done" and not job["result"]["faults"]["total"]:
                READY.append(job["id"])
            return
        time.sleep(LOOK)


def _upload(attack: Attack, number: int) -> tuple[int, bytes]:
    content = line(int(time.time()) % 1_000_000 * 10 + number, MANY if number % 2 else ONE)
    body, content_type = multipart({"format": "m3", "level": "3"}, f"{number}.jsonl", content)
    return attack.strike("POST", f"/api/v1/projects/{attack.slug}/imports/", body, content_type)


def _confirm(attack: Attack, check: int) -> Any:
    body = json.dumps({"job": check}).encode()
    path = f"/api/v1/projects/{attack.slug}/imports/confirm/"
    return attack.strike("POST", path, body)
