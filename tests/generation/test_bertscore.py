"""BERTScore with a tiny encoder with random weights."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from api.problems import Refused
from generation import metrics
from generation.metrics.bertscore import BertScorer
from generation.metrics.protocol import MetricError, Row, baseline
from generation.models import Scoring
from generation.scoring.actions import checked, request_scores
from projects.jobs.running import run_job
from projects.models import Job, Project
from tests.builders import build_cluster
from tests.generation.summaries import build_run, the_target
from tests.generation.test_metrics import judged
from tests.generation.tiny_encoders import build
from tests.generation.tiny_models import SENTENCES

bertscore = metrics.get("bertscore")


@pytest.fixture
def folder(tmp_path: Path, settings: LazySettings) -> Path:
    settings.MODELS_DIR = tmp_path
    return tmp_path


@pytest.fixture
def tiny(folder: Path) -> Path:
    return build("bert", folder / "tiny-bert")


def params(**given: Any) -> dict[str, Any]:
    return checked(bertscore, {"model": "tiny-bert", "layers": 2} | given)


def rows_of(text: str, *targets: str, **given: Any) -> list[Row]:
    (rows,) = bertscore.load(params(**given)).score([judged(text, *targets)])
    return rows


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_bertscore_is_greedy_matching_of_embeddings_of_the_layer(folder: Path, kind: str) -> None:
    """By hand: cosine of each content token to its best match in the second of three layers; long texts are
    truncated."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    where = build(kind, folder / kind)
    model, tokenizer = AutoModel.from_pretrained(where).eval(), AutoTokenizer.from_pretrained(where)
    longest = 40 if kind == "bert" else 38

    def embedded(text: str) -> Any:
        ids = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
        with torch.no_grad():
            states = model(**ids, output_hidden_states=True).hidden_states[2][0]
        return torch.nn.functional.normalize(states, dim=-1), len(ids["input_ids"][0])

    for text, target in ((SENTENCES[0], SENTENCES[1]), (" ".join(SENTENCES), SENTENCES[2])):
        (a, n), (b, m) = embedded(text), embedded(target)
        similar = a @ b.T
        # The first and last tokens have no weight, but can be matched.
        precision = similar.max(dim=1).values[1 : n - 1].mean().item()
        recall = similar.max(dim=0).values[1 : m - 1].mean().item()
        (row,) = rows_of(text, target, model=kind)
        assert row.values["bertscore_precision"] == pytest.approx(precision, abs=1e-5)
        assert row.values["bertscore_recall"] == pytest.approx(recall, abs=1e-5)
        assert row.values["bertscore_f1"] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-5)
        if text != SENTENCES[0]:
            assert n == longest, "the text was to be cut"


def test_bertscore_of_a_text_with_itself_is_1_in_any_batch(tiny: Path) -> None:
    items = [judged(SENTENCES[i], SENTENCES[i], SENTENCES[(i + 3) % 8]) for i in range(8)]
    scorer = BertScorer(params())
    together, apart = scorer.score(items), [scorer.score([item])[0] for item in items]
    for mine, other in zip(together, apart, strict=True):
        assert mine[0].values["bertscore_f1"] == pytest.approx(1.0, abs=1e-5)
        assert [row.values for row in mine] == [pytest.approx(row.values, abs=1e-5) for row in other]


def test_empty_texts_are_not_sent_to_the_encoder(tiny: Path) -> None:
    assert rows_of(" ", SENTENCES[0])[0].values["bertscore_f1"] == 0.0
    (row,) = rows_of(SENTENCES[0], "")
    assert row.values["bertscore_f1"] is None
    assert row.undefined["bertscore_f1"] == "the reference is empty"


def test_libraries_that_affect_figures_are_recorded(tiny: Path) -> None:
    said = bertscore.libraries(params())
    # The wheel of 0.3.13 has 0.3.12 in its hash string; its real version is stored too.
    assert said["hash"].startswith("tiny-bert_L2_no-idf_version=0.3.12(hug_trans=")
    assert said["bert-score"] == "0.3.13"
    assert said["texts"] == "cut at 512 tokens"
    assert len(said["weights"]) == len(said["tokenizer"]) == 64
    build("bert", tiny, seed=1)
    assert bertscore.libraries(params())["weights"] != said["weights"]


def test_rescaling_without_a_baseline_is_refused(tiny: Path) -> None:
    with pytest.raises(Refused, match="no baseline for the encoder 'tiny-bert'"):
        params(rescale=True)
    with pytest.raises(Refused, match="no baseline"):
        params(model="../../bert_score/rescale_baseline/en/no", rescale=True)


def test_rescaling_is_linear_in_the_baseline(folder: Path) -> None:
    """bert-base-uncased has a baseline; ours only shares its name."""
    build("bert", folder / "bert-base-uncased")
    plain = rows_of(SENTENCES[0], SENTENCES[1], model="bert-base-uncased")[0].values
    scaled = rows_of(SENTENCES[0], SENTENCES[1], model="bert-base-uncased", rescale=True)[0].values
    lines = baseline("bert-base-uncased").read_text().splitlines()
    low = float(dict(zip(lines[0].split(","), lines[3].split(","), strict=True))["F"])
    assert lines[3].startswith("2,")
    assert plain["bertscore_f1"] is not None
    assert scaled["bertscore_f1"] == pytest.approx((plain["bertscore_f1"] - low) / (1 - low), abs=1e-5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "nowhere"}, "no folder 'nowhere'"),
        ({"model": "../tiny-bert"}, "no absolute path"),
        ({"layers": 4}, "has 3 layers"),
    ],
)
def test_unloadable_models_are_refused_with_a_message(tiny: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(MetricError, match=said):
        bertscore.load(params(**given))


def test_weights_that_are_missing_are_refused(tiny: Path) -> None:
    from safetensors.torch import load_file, save_file

    kept = load_file(tiny / "model.safetensors")
    name = next(name for name in kept if "layer.1." in name)
    del kept[name]
    save_file(kept, tiny / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MetricError, match=r"layer\.1\."):
        bertscore.load(params())


def test_a_model_that_is_no_such_encoder_is_refused(tiny: Path) -> None:
    config = json.loads((tiny / "config.json").read_text())
    assert config["model_type"] == "bert"
    from tests.generation.tiny_models import build as build_other

    build_other("t5", tiny.parent / "t5")
    with pytest.raises(MetricError, match="t5 is not a supported encoder"):
        bertscore.load(params(model="t5"))


@pytest.mark.django_db
def test_bertscore_is_computed_by_a_worker_with_torch(tiny: Path, project: Project) -> None:
    build_cluster(project)
    run = build_run(project, write=the_target)
    job = request_scores(run=run, metric="bertscore", params={"model": "tiny-bert", "layers": 2}, by=None)
    assert isinstance(job, Job)
    assert job.queue == "gpu"
    assert run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.error) == ("done", "")
    scoring = Scoring.objects.get()
    assert scoring.libraries["hash"].startswith("tiny-bert_L2")
    assert scoring.scores.get().values["bertscore_f1"] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.django_db
def test_missing_weights_fail_the_job_with_a_message(tiny: Path, project: Project) -> None:
    build_cluster(project)
    run = build_run(project)
    job = request_scores(run=run, metric="bertscore", params={"model": "nowhere"}, by=None)
    assert isinstance(job, Job)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.attempts) == ("failed", 1), "repeating it would change nothing"
    assert "no folder 'nowhere'" in job.error
    assert not Scoring.objects.exists()
