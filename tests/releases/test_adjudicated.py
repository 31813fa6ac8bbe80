"""A curator's decisions are in the next release under the curator's pseudonym; other values are unchanged."""

import csv
import io
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Proposition
from projects.models import Member, Project, Unit
from projects.uploads.files import Source
from releases.publishing.actions import write_release
from tests.annotation.m3_files import LEVEL3, import_records, published
from tests.projects.adjudication import adjudication_detail, queue, send
from tests.projects.planted_round import planted_round

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def texts_of(folder: Path) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """Return the released values of each text by cluster and position, and of each cluster without its texts."""
    for line in (folder / "m3" / "level3.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for position, one in enumerate(record.pop("input_studies"), start=1):
            yield (record["docid"], position), {k.removeprefix("source_"): v for k, v in one.items()}
        target = {k: record.pop(f"target_{k}") for k in ("text", "direction", "modality", "direction_span")}
        yield (record["docid"], 0), target | {"modality_span": record.pop("target_modality_span")}
        yield (record["docid"], -1), record


@published
def test_the_release_has_what_was_adjudicated_and_every_other_value_untouched(
    project: Project,
    lead: User,
    ann1: User,
    ann2: User,
    evaluator: User,
    client_of: Callable[[User], APIClient],
    tmp_path: Path,
) -> None:
    import_records(project, Source.of(LEVEL3))
    Member.objects.filter(user=evaluator).update(role="annotator")
    people = [Member.objects.get(project=project, user=u) for u in (ann1, ann2, evaluator)]
    round, contested = planted_round(project, people)
    assert len(contested) == 20
    write_release(project=project, version="1.0.0", out=tmp_path / "before")
    client, taken = client_of(lead), {}
    assert [r["unit"] for r in queue(client, round)["rows"]] == contested
    for n, unit in enumerate(contested):
        found = adjudication_detail(client, round, Unit.objects.get(pk=unit), names=True)
        chosen = found["answers"][n % 3]
        body = {"answer": chosen["answer"], "seen": found["seen"], "reason": f"Reason {n % 2}."}
        assert send(client, round, f"{unit}/", **body).status_code == 201
        taken[unit] = chosen
    write_release(project=project, version="1.1.0", out=tmp_path / "after")

    before, after = dict(texts_of(tmp_path / "before")), dict(texts_of(tmp_path / "after"))
    places = {
        (p.cluster.key, p.position): p.unit_id
        for p in Proposition.objects.filter(unit__in=contested).select_related("cluster")
    }
    changed = {place for place in before if before[place] != after[place]}
    assert changed <= set(places)
    assert len(changed) >= 10, "a third of them was published with the polarity that was taken"
    for place, unit in places.items():
        said = taken[unit]["card"]["value"]
        assert (after[place]["direction"], after[place]["modality"]) == (said["polarity"], said["modality"])

    values = csv.DictReader(io.StringIO((tmp_path / "after" / "provenance" / "values.csv").read_text(encoding="utf-8")))
    raters = {
        row["unit"]: (row["rater"], uuid.UUID(row["answer"]), row["reason"], row["round"])
        for row in values
        if row["origin"] == "decided by a curator" and row["field"] == "polarity"
    }
    keys = dict(Unit.objects.filter(pk__in=contested).values_list("pk", "key"))
    assert raters == {
        keys[unit]: (a["pseudonym"], uuid.UUID(a["answer"]), f"Reason {n % 2}.", "planted")
        for n, (unit, a) in enumerate(taken.items())
    }
