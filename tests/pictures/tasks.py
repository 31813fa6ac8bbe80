"""A project with an open round for each kind of task, made as by the browser tests."""

import json
from contextlib import redirect_stdout
from io import StringIO

from tests.browser import (
    test_assign_evidence,
    test_cluster_rounds,
    test_counterfactuals,
    test_effect,
    test_entity,
    test_evidence,
    test_match,
    test_pico,
    test_screening,
    test_sentences,
    test_studies,
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
    "splitting": test_pico.OPEN.format(texts=json.dumps(test_pico.TEXTS)),
    "screening": test_screening.OPEN,
    "sentences": test_sentences.OPEN,
    "studies": test_studies.OPEN,
}


def make() -> None:
    for script in SCRIPTS.values():
        with redirect_stdout(StringIO()):  # the tests read the ids
            exec(script, {})
