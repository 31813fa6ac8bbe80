"""Ranking sentences of studies with a sentence encoder from a folder."""

from pathlib import Path

import numpy as np
import pytest
from django.conf import LazySettings

from annotation import rankers
from annotation.evidence.actions import rank
from annotation.models import Ranking
from projects.models import Project
from tests.annotation.test_evidence import ABSTRACT, TARGET, build_review
from tests.generation.tiny_encoders import build_sentence_encoder

pytest.importorskip("sentence_transformers")


@pytest.fixture
def encoder(tmp_path: Path, settings: LazySettings) -> None:
    settings.MODELS_DIR = tmp_path
    build_sentence_encoder(tmp_path / "encoder")


@pytest.mark.django_db
def test_ranks_are_those_of_the_cosines_and_named_by_the_encoders_files(encoder: None, project: Project) -> None:
    build_review(project, 0, studies=1)
    made = rank(project=project, ranker="embeddings", model="encoder")
    assert made["ranked"] == 1
    assert made["ranker"].startswith("embeddings: encoder, ")
    row = Ranking.objects.get()
    from generation.neural.encoders.embedding import SentenceEncoder

    sentences = [f"{part}." for part in ABSTRACT.removesuffix(".").split(". ")]
    vectors = SentenceEncoder("encoder", "cpu").encode([TARGET, *sentences])
    cosines = vectors[0] @ vectors[1:].T
    assert row.similarities == pytest.approx(cosines.tolist(), abs=2e-6)
    assert row.order == [int(n) + 1 for n in np.argsort(-cosines, kind="stable")]


def test_a_changed_encoder_file_changes_the_name_of_the_ranker(encoder: None, settings: LazySettings) -> None:
    ranker = rankers.get("embeddings")
    before = ranker.name("encoder")
    file = Path(settings.MODELS_DIR) / "encoder" / "config_sentence_transformers.json"
    said = file.read_text() if file.exists() else "{}"
    file.write_text(said + " ")
    assert ranker.name("encoder") != before
