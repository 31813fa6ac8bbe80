"""A project with an open round for each kind of task, made as by the browser tests."""

import json
from contextlib import redirect_stdout
from io import StringIO

from projects import kinds
from projects.models import Project, Round
from tests.browser import (
    test_assign_evidence,
    test_cluster_rounds,
    test_counterfactuals,
    test_effect,
    test_entity,
    test_evidence,
    test_match,
    test_passage,
    test_pico,
    test_screening,
    test_sentences,
    test_studies,
    test_write,
)

#: Short name of the project of each kind: its script.
SCRIPTS = {
    "assigning": test_assign_evidence.OPEN,
    **{
        f"rounds-of-{kind}": test_cluster_rounds.OPEN.format(
            given=json.dumps({"slug": f"rounds-of-{kind}", "kind": kind})
        )
        for kind in ("tuple", "discourse")
    },
    "rewriting": test_counterfactuals.OPEN,
    "effects": test_effect.OPEN,
    "entities": test_entity.OPEN.format(given=json.dumps(test_entity.GIVEN | {"suggest": True})),
    "evidence": test_evidence.OPEN,
    "matching": test_match.OPEN,
    "passages": test_passage.OPEN,
    "splitting": test_pico.OPEN.format(texts=json.dumps(test_pico.TEXTS)),
    "screening": test_screening.OPEN,
    "sentences": test_sentences.OPEN,
    "studies": test_studies.OPEN,
    "writing": test_write.OPEN.format(
        given=json.dumps(
            {
                "slug": "writing",
                "questions": test_write.QUESTIONS,
                "who": "ann1@example.org",
                "options": {"asked_passages": "all", "limit_passage_extractive": 30, "limit_passage_abstractive": 12},
            }
        )
    ),
}

#: Name of the round of each task about sentences.
SENTENCES = {"sentence_classes": "Classes of sentences", "evidence_sentences": "Evidence sentences"}


def make() -> None:
    for slug, script in SCRIPTS.items():
        with redirect_stdout(StringIO()):  # the tests read the ids
            exec(script, {})
        # The tests name rounds and projects only for themselves.
        for round in Round.objects.filter(project__slug=slug, status=Round.Status.OPEN):
            name = SENTENCES.get(round.name, f"{kinds.get(round.kind).title}, first half")
            Round.objects.filter(pk=round.pk).update(name=name)
        Project.objects.filter(slug=slug).update(name=f"Migraine, {slug.removeprefix('rounds-of-')}")
