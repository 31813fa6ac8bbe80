"""MS^2's study of directions through the API: a sample, some reviews rated twice, agreement, and the 5 x 5 matrix."""

import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from evaluation.models import RatingPage
from projects.jobs.running import run_job
from projects.models import Job, JobStatus, Project
from tests.annotation.ms2_files import import_records, review, sentence, write
from tests.generation.builders import build_run, build_version

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]
CLASSES = ("increases", "no change", "decreases", "insufficient", "skip")
#: (direction of the reference, direction of the system's text) of each sampled review. The first five are rated twice.
PAIRS = [(c, c) for c in CLASSES] + [
    ("increases", "increases"), ("increases", "increases"), ("increases", "no change"), ("increases", "decreases"),
    ("no change", "no change"), ("no change", "increases"), ("no change", "insufficient"), ("decreases", "no change"),
    ("insufficient", "skip"), ("skip", "increases"),
]  # fmt: skip
#: The second rater's directions that differ from these, by review and whether the text is the reference.
DIFFERS = {(0, False): "no change", (1, False): "insufficient"}
#: Half of a text counts for each direction if its two raters differ. References without a direction are left out.
MATRIX = [[2.5, 1.5, 1, 0, 0], [1, 1.5, 0, 1.5, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]
RIGHT, N = 6, 13


def rate(client: APIClient, round: int, choose: Callable[[str], str]) -> int:
    """Answer all pages of a person; return their number."""
    done = 0
    while cards := client.get(f"/api/v1/rounds/{round}/next/").json()["fetched"]:
        for card in cards:
            [text] = card["texts"]
            said = {"criterion": "direction", "value": choose(text["text"]), "na": False, "prefilled": False}
            said |= {"reason": "", "spans": [], "quotes": []}
            body = {key: card[key] for key in ("assignment", "shown")} | {"revision": 0, "kind": "rate", "have": []}
            body |= {"outcome": "answered", "value": {"texts": [{"text": text["key"], "said": [said]}]}}
            reply = client.put(f"/api/v1/answers/{uuid.uuid4()}/", body, format="json")
            assert reply.status_code == 201, reply.json()
            done += 1
    return done


def test_the_direction_study_goes_from_a_sample_to_its_matrix_and_kappa(
    project: Project, lead: User, evaluator: User, ann1: User, client_of: Client, tmp_path: Path
) -> None:
    reviews = [review(n, [sentence("EFFECT", f"Reference of review {n} .")]) for n in range(30, 50)]
    import_records(project, write(tmp_path / "reviews.jsonl", [one | {"significances": []} for one in reviews]))
    units = {r.pmid: r.unit_id for r in project.reviews.all()}
    run = build_run(
        build_version(project, "Alder", level="document"),
        {u: f"Summary of review {pmid}." for pmid, u in units.items()},
    )
    client = client_of(lead)
    people = [project.members.get(user=user).pk for user in (evaluator, ann1)]
    plan = {
        "name": "Directions", "kind": "rate", "purpose": "reliability study", "overlap": 1, "people": people,
        "allocation": "fixed allocation", "sample": 15, "block_share": 1 / 3, "block_overlap": 2, "seed": 1,
        "options": {"protocol": "shipped:ms2-direction", "systems": [str(run.pk), "references"]},
    }  # fmt: skip
    reply = client.post("/api/v1/projects/eye/rounds/", plan, format="json")
    assert reply.status_code == 201, reply.json()
    round = reply.json()["id"]

    # Both texts of five reviews are rated twice.
    asked: Counter[str] = Counter()
    for page in RatingPage.objects.filter(source__design__round=round).select_related("source"):
        asked[page.source.review] += page.unit.assignments.count()
    assert sorted(asked.values()) == [2] * 10 + [4] * 5
    order = sorted(asked, key=lambda pmid: (-asked[pmid], pmid))

    def direction(text: str, second: bool = False) -> str:
        at = next(n for n, pmid in enumerate(order) if f"review {pmid}" in text)
        is_reference = text.startswith("Reference")
        differing = DIFFERS.get((at, is_reference)) if second else None
        return differing or PAIRS[at][not is_reference]

    rated = rate(client_of(evaluator), round, direction)
    assert rated + rate(client_of(ann1), round, lambda text: direction(text, second=True)) == 40

    assert client.post(f"/api/v1/rounds/{round}/close/", {}, format="json").status_code in (200, 202)
    run_jobs()
    [agreement] = client.get(f"/api/v1/rounds/{round}/agreement/").json()["measures"]
    # Ten texts, two of each class by the first rater; the second one has 1, 2, 2, 3 and 2. They agree on eight.
    # Chance: (1 + 2 + 2 + 3 + 2) / 10 * 2 / 10 = .2, so kappa is (.8 - .2) / .8.
    [kappa] = agreement["coefficients"]["cohen_pairs"]
    assert (kappa["units"], kappa["percent"], kappa["value"]) == (10, 0.8, pytest.approx(0.75))
    [of_pair] = agreement["confusion"]["pairs"]
    table = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 2, 0, 0], [0, 1, 0, 2, 0], [0, 0, 0, 0, 2]]
    assert of_pair["table"] in (table, [list(row) for row in zip(*table, strict=True)])
    assert client.post(f"/api/v1/rounds/{round}/unblind/", {}, format="json").status_code == 200
    run_jobs()
    [made] = client.get(f"/api/v1/rounds/{round}/ratings/").json()["figures"]["directions"]
    [system] = made["systems"]
    assert (system["classes"], system["table"]) == (list(CLASSES), MATRIX)
    assert (system["n"], system["correct"], system["excluded"], system["split"]) == (N, RIGHT, 2, 2)
    # Rows: 5, 4, 2, 2, 0. Columns: 3.5, 4, 2, 2.5, 1.
    assert system["kappa"] == pytest.approx((N * RIGHT - 42.5) / (N * N - 42.5))
    tables = {one["key"]: one for one in client.get("/api/v1/projects/eye/results/").json()["tables"]}
    [row] = tables["directions"]["rows"]
    assert (row[1]["text"], row[2]["text"][:4], row[4]["text"]) == ("Alder", "46.2", "13")
    shown = [[float(cell["text"]) for cell in row[3:]] for row in tables["direction-matrix"]["rows"]]
    assert shown == MATRIX


def run_jobs() -> None:
    for job in Job.objects.filter(status=JobStatus.QUEUED).order_by("pk"):
        run_job(job.pk)
