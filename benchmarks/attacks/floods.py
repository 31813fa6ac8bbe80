"""Excessive requests at full speed: queued releases, uploaded files, revised answers."""

import json
import time
import uuid
from typing import Any

from .bounds import Attack, multipart

#: Releases requested in the first nine seconds, and seconds between two after that.
BURST, BURST_SECONDS, LATER = 500, 9.0, 0.5
#: Bytes of one upload and of all uploads, and seconds between two if they are refused.
UPLOAD, UPLOADS, REFUSED = 10 * 2**20, 2**30, 0.2
COMMENT = "x" * 5_000


def releases(attack: Attack) -> None:
    """Request five hundred releases in nine seconds, and then two per second."""
    path, began, threads = f"/api/v1/projects/{attack.slug}/releases/", time.monotonic(), 5

    def work(number: int) -> None:
        for strike in attack.strikes():
            body = json.dumps({"version": f"{int(began)}.0.{strike}"}).encode()
            attack.strike("POST", path, body)
            rest = began + BURST_SECONDS * strike / BURST - time.monotonic()
            attack.wait(rest if strike <= BURST else LATER * threads)

    attack.side_by_side(threads, work)


def uploads(attack: Attack) -> None:
    """Upload files of ten megabytes to be checked as a corpus, at most one gigabyte in total."""
    body, content_type = multipart({"format": "m3", "level": "3"}, "noise.jsonl", b"x" * UPLOAD)
    path = f"/api/v1/projects/{attack.slug}/imports/"

    def work(number: int) -> None:
        for strike in attack.strikes():
            status, _ = attack.strike("POST", path, body, content_type)
            if status != 202:
                attack.wait(REFUSED)
            elif strike * UPLOAD >= UPLOADS:
                return

    attack.side_by_side(2, work)


def revisions(attack: Attack) -> None:
    """Revise one answer repeatedly, with the longest accepted comment."""
    status, found = attack.ask("GET", f"/api/v1/rounds/{attack.round}/next/")
    card: dict[str, Any] = json.loads(found)["fetched"][0]
    revision = card["revision"]
    for _ in attack.strikes():
        body = {
            "assignment": card["assignment"],
            "revision": revision,
            "kind": "label",
            "outcome": "answered",
            "reason": "",
            "shown": card["shown"],
            "active_ms": 1,
            "comment": COMMENT,
            "flag": False,
            "have": [],
            "value": {"polarity": "positive", "modality": "strong", "polarity_cue": [], "modality_cue": []},
        }
        path = f"/api/v1/answers/{uuid.uuid4()}/"
        status, _ = attack.strike("PUT", path, json.dumps(body).encode())
        revision += status in (200, 201)
