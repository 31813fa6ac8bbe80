"""Three systems and three probes with figures in every table."""

from pathlib import Path

import pytest
from django.utils import timezone

from annotation.models import Proposition
from generation.models import Run, Score, Scoring, Summary
from generation.scoring.actions import compute_scoring_means
from generation.scoring.comparing import compare_scoring
from generation.sources import Material
from measures.counterfactuals import Kind
from projects.models import Project
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.builders import build_cluster
from tests.generation.summaries import build_run, first_sentence, scored, the_target
from tests.generation.test_pairs import build_probe
from tests.generation.test_probing import TEXTS, add

METRICS = ("rouge", "bleu", "chrf", "copying", "length", "repetition", "direction")


def with_bertscore(run: Run, more: float) -> None:
    """Store BERTScore values without a model; ``more`` is added for each further summary."""
    scoring = Scoring.objects.create(run=run, metric="bertscore", hash="bertscore", finished_at=timezone.now())
    references = {p.cluster_id: p.unit_id for p in Proposition.objects.filter(position=0)}
    for number, summary in enumerate(Summary.objects.filter(item__run=run).select_related("item__unit__cluster")):
        Score.objects.create(
            scoring=scoring,
            summary=summary,
            reference_id=references[summary.item.unit.cluster.pk],
            values={"bertscore_f1": 0.3 + more * number},
        )
    compute_scoring_means(scoring)
    compare_scoring(scoring)


def half(material: Material) -> str | None:
    """Return about half of the target; None for the first and the sixth review."""
    words, number = the_target(material).split(), int(material.source.key.split("_")[0][-3:])
    return None if number in (0, 5) else " ".join(words[: len(words) // 2 + number % 3])


WROTE = {"A": first_sentence, "B": half, "C": the_target}
JUDGED = {"P": range(8), "Q": range(1, 9), "R": range(9)}


def add_system(project: Project, name: str, *metrics: str) -> Run:
    """Add a system of `WROTE` with its scores."""
    run = build_run(project, name, write=WROTE[name])
    scored(run, *(metrics or METRICS))
    with_bertscore(run, 0.01 * ord(name) - 0.6)
    return run


def add_probe(project: Project, name: str) -> Run:
    """Add a probe of `JUDGED`; later ones are better."""
    better = ord(name) - ord("P")
    kinds = {n: {Kind.NEGATION: 0.5 - 0.1 * n + 0.2 * better, Kind.MODALITY: 0.03 * n * better} for n in JUDGED[name]}
    return build_probe(project, name, kinds)


@pytest.fixture
def clusters(project: Project) -> Project:
    """Nine clusters of nine reviews, with counterfactuals."""
    for number in range(9):
        add(build_cluster(project, number), TEXTS, f"{number}.csv")
    return project


@pytest.fixture
def beside(clusters: Project) -> Project:
    """B lacks some summaries; the probes judged different clusters."""
    for name in WROTE:
        add_system(clusters, name)
    for name in JUDGED:
        add_probe(clusters, name)
    return clusters


@pytest.fixture
def documents(project: Project, tmp_path: Path) -> Project:
    """Four reviews of two propositions each, and two systems that write documents."""
    keys = [str(number) * 3 for number in range(1, 5)]
    texts = ["It helps, and is safe.", "It reduces pain.", "Nepralin may reduce relapse.", "There is no benefit."]
    level1 = [plain(key, text, ("1", "Trial one."), ("2", text[:12])) for key, text in zip(keys, texts, strict=True)]
    import_records(project, write(tmp_path / "level1.jsonl", level1), level="1")
    level3 = [
        cluster(f"{key}_{n}", [source("It is safe", f"4{n}")], target_text=text[: 10 + 4 * n])
        for key, text in zip(keys, texts, strict=True)
        for n in range(2)
    ]
    import_records(project, write(tmp_path / "level3.jsonl", level3))
    for name, wrote in (("A", half), ("B", the_target)):
        scored(build_run(project, name, "document", write=wrote), *METRICS)
    return project
