"""Presets of trainings: valid, with a source for every figure, and trained on splits of their level or of reviews."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import DataSplit, Review, SplitLevel, SplitMode, SplitUnit
from annotation.splits.actions import create_split
from annotation.splits.parameters import SplitParameters, parse_parts
from api.problems import Refused
from generation import sources, trainers
from generation.models import FineTuning, TrainingState, UnitLevel
from generation.trainers import seq2seq
from generation.trainers.presets import PRESETS, TrainingPreset, configuration, get
from generation.trainers.protocol import DIVIDED
from generation.training.actions import KIND, read_parts, request_training
from projects.jobs.running import run_job
from projects.models import Job, Project
from tests.annotation.m3_files import import_records, write
from tests.annotation.ms2_files import import_records as import_ms2
from tests.annotation.ms2_files import review
from tests.annotation.ms2_files import write as write_ms2
from tests.annotation.test_splits import item
from tests.generation.questions import bring_questions

pytestmark = pytest.mark.django_db
each = pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
#: Published figures, as read in the repositories of the papers.
PUBLISHED: dict[str, dict[str, Any]] = {
    "m3-bart": {},
    "m3-biobart": {},
    "m3-pegasus": {},
    "m3-primera": {"target_tokens": 1024},
    **{
        key: {
            "steps": 20_000,
            "batch": 16,
            "learning_rate": 3e-5,
            "warmup_steps": 500,
            "schedule": "linear",
            "weight_decay": 0.01,
            "max_grad_norm": 0.1,
            "label_smoothing": 0.1,
            "reference": "abstractive",
        }
        for key in ("mediqa-bart", "mediqa-bart-question")
    },
    **{
        key: {
            "epochs": 8,
            "batch": 32,
            "learning_rate": 1e-5,
            "warmup_steps": 1000,
            "schedule": "linear",
            "weight_decay": 0,
            "max_grad_norm": 0,
            "target_tokens": 512,
            "patience": None,
        }
        for key in ("ms2-bart", "ms2-led")
    },
    "ms2-sentences": {
        "epochs": 5,
        "batch": 16,
        "learning_rate": 1e-5,
        "warmup_steps": 0.1,
        "schedule": "linear",
        "weight_decay": 0,
        "max_grad_norm": 0,
    },
}


@each
def test_the_trainer_accepts_every_value_of_a_preset(preset: TrainingPreset) -> None:
    config = configuration(preset, model="some", seed=7, training={})
    clean = trainers.get(preset.trainer).checked(config)
    assert clean["training"] | preset.values == clean["training"]
    version = clean.get("version", clean)
    assert (version["model"]["model"], version["seed"]) == ("some", 7)
    assert (version.get("level", ""), version.get("task", "")) == (preset.level, preset.task)


def test_the_figures_are_those_that_were_published_and_each_names_a_file() -> None:
    assert {preset.key: preset.values for preset in PRESETS} == PUBLISHED
    for preset in PRESETS:
        assert all(len(figure.source) > 10 for figure in preset.training.values()), preset.key


def test_the_two_presets_of_mediqa_differ_in_the_question_alone() -> None:
    without, with_it = get("mediqa-bart").config, get("mediqa-bart-question").config
    assert with_it == {**without, "assembly": {**without["assembly"], "question": True}}


@pytest.fixture
def reviews(project: Project, settings: LazySettings, tmp_path: Path) -> DataSplit:
    """A split of ten reviews, each with one cluster."""
    settings.DATA_DIR = tmp_path / "data"
    import_records(project, write(tmp_path / "a.jsonl", [item(200 + n, str(300 + n)) for n in range(10)]))
    parts = parse_parts("train=60,dev=20,test=20")
    return create_split(project=project, asked=SplitParameters("main", SplitLevel.REVIEW, parts=parts), by=None)


def test_a_split_of_reviews_divides_their_clusters(reviews: DataSplit) -> None:
    part_of = dict(SplitUnit.objects.filter(split=reviews).values_list("review", "part"))
    found = {
        name: {row.key for row in sources.units_of_part(reviews, name, UnitLevel.PROPOSITION)}
        for name in ("train", "dev", "test")
    }
    assert sum(map(len, found.values())) == len(set().union(*found.values())) == 10
    for name, keys in found.items():
        assert all(part_of[key.split("_")[0]] == name for key in keys)


def _divided(split: DataSplit, level: str) -> dict[str, list[sources.PartUnit]]:
    return {part["name"]: list(sources.units_of_part(split, part["name"], level)) for part in split.parts}


def test_a_split_of_questions_divides_their_passages(project: Project, tmp_path: Path) -> None:
    bring_questions(project, tmp_path)
    parts = parse_parts("train=50,test=50")
    split = create_split(project=project, asked=SplitParameters("main", SplitLevel.QUESTION, parts=parts), by=None)
    answers, questions = (_divided(split, level) for level in ("answer", "question"))
    assert sum(map(len, answers.values())) == 16
    for part, rows in answers.items():
        assert {row.key.split("_")[0] for row in rows} == {row.key for row in questions[part]}


def test_a_split_of_reviews_divides_their_documents_and_pairs(project: Project, tmp_path: Path) -> None:
    import_ms2(project, write_ms2(tmp_path / "reviews.jsonl", [review()]))
    split = DataSplit.objects.create(
        project=project, name="one", level=SplitLevel.REVIEW, mode=SplitMode.IMPORTED, seed=0, report={}, digest="",
        parts=[{"name": "train", "share": None}, {"name": "test", "share": None}],
    )  # fmt: skip
    one = Review.objects.get(project=project)
    SplitUnit.objects.create(split=split, unit=one.unit, key=one.pmid, review=one.pmid, part="train", component=1)
    for level, count in (("document", 1), ("pair", 2)):
        divided = _divided(split, level)
        assert (len(divided["train"]), divided["test"]) == (count, []), level
        materials = sources.materials(project, level, [row.unit for row in divided["train"]])
        assert len(materials) == count, level


def test_a_unit_whose_review_is_in_two_parts_is_left_out(reviews: DataSplit, project: Project) -> None:
    rows = list(SplitUnit.objects.filter(split=reviews, part="train"))
    divided = DataSplit.objects.create(
        project=project,
        name="given",
        level=SplitLevel.PROPOSITION,
        mode=SplitMode.IMPORTED,
        seed=0,
        parts=[{"name": "train", "share": None}, {"name": "test", "share": None}],
        report={},
        digest="",
    )
    clusters = [row.unit for row in sources.units_of_part(reviews, "train", UnitLevel.PROPOSITION)]
    for n, unit in enumerate(clusters[:3]):
        part = "test" if n == 1 else "train"
        review = rows[0].review if n < 2 else rows[2].review
        SplitUnit.objects.create(split=divided, unit_id=unit, key=str(n), review=review, part=part, component=n + 1)
    config = trainers.get("seq2seq").checked(
        configuration(get("m3-bart"), model="x", level="proposition", seed=1, training={})
    )
    tuning = FineTuning(
        project=project, trainer="seq2seq", split=divided, config=config | {"parts": {"training": "train"}}
    )
    parts, data, _ = read_parts(tuning)
    assert [example.key for example in parts.training] == ["2"]
    assert data["training"]["left_out"] == {DIVIDED: 1}


def test_a_split_of_clusters_does_not_divide_documents(project: Project, reviews: DataSplit) -> None:
    parts = parse_parts("train=50,test=50")
    split = create_split(project=project, asked=SplitParameters("finer", SplitLevel.PROPOSITION, parts=parts), by=None)
    config = configuration(get("m3-bart"), model="x", seed=1, training={}) | {"parts": {"training": "train"}}
    with pytest.raises(Refused, match="choose a split of documents or reviews"):
        request_training(project=project, name="BART", trainer="seq2seq", split=split, config=config, by=None)


def test_a_lead_trains_from_a_preset_without_a_version(
    reviews: DataSplit, lead: User, client_of: Callable[[User], APIClient], models: Callable[[str], str]
) -> None:
    pytest.importorskip("accelerate")
    client = client_of(lead)
    Review.objects.update(title="Do statins help?")
    choices = client.get("/api/v1/projects/eye/trainings/choices/").json()
    offered = {preset["key"]: preset for preset in choices["presets"]}
    [offered_split] = choices["splits"]
    assert offered_split["divides"] == ["proposition"], "documents have no targets, and pairs no effects"
    figures = {figure["name"]: figure for figure in offered["mediqa-bart"]["training"]}
    assert figures["learning_rate"]["source"].endswith("finetune_bart_bioasq.sh, LR")
    assert figures["patience"]["source"].startswith("No published figure")
    body = {
        "name": "As MEDIQA",
        "preset": "mediqa-bart-question",
        "trainer": "seq2seq",
        "level": "proposition",
        "model": models("bart"),
        "split": reviews.pk,
        "part": "train",
        "development": "dev",
        "training": {"steps": 2, "evaluate_every": 1, "target_tokens": 32, "reference": ""},
    }
    started = client.post("/api/v1/projects/eye/trainings/", body, format="json")
    assert started.status_code == 201, started.json()
    assert started.json()["config"]["training"]["label_smoothing"] == 0.1
    run_job(started.json()["job"]["id"])
    done = client.get(f"/api/v1/trainings/{started.json()['id']}/").json()
    assert (done["state"], done["error"], done["data"]["training"]["examples"]) == ("done", "", 6)
    for change, field in (
        ({"preset": "x"}, "preset"),
        ({"preset": "ms2-sentences"}, "preset"),
        ({"model": "gone", "level": "x"}, "level"),
    ):
        reply = client.post("/api/v1/projects/eye/trainings/", body | {"name": "Other"} | change, format="json")
        assert field in [error["field"] for error in reply.json()["errors"]], reply.json()


def test_training_adds_the_markers_and_the_start_of_ms2s_bart(
    reviews: DataSplit, models: Callable[[str], str], settings: LazySettings, tmp_path: Path
) -> None:
    """Its encoder reads padding, its decoder starts with <s>, and the trained folder has the tokens."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    Review.objects.update(abstract="Background: Statins are common. Conclusions: They help.")
    base = Path(settings.MODELS_DIR) / models("bart")
    plain = Path(settings.MODELS_DIR) / "plain"
    _without_markers(base, plain)
    config = tmp_path / "short.json"
    config.write_text(json.dumps({"training": {"steps": 1, "batch": 4, "target_tokens": 32}}))
    options = {"project": "eye", "name": "MS2", "split": "main", "level": "proposition", "model": "plain"}
    call_command("train", preset="ms2-bart", config=config, here=True, **options)
    tuning = FineTuning.objects.get(name="MS2")
    assert (tuning.state, tuning.error) == (TrainingState.DONE, "")
    folder = Path(settings.MODELS_DIR) / tuning.result["folder"]
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder)
    assert "<background>" not in AutoTokenizer.from_pretrained(plain).get_vocab()
    assert tokenizer.tokenize("<background>") == ["<background>"]
    assert model.get_input_embeddings().weight.shape[0] >= len(tokenizer)
    assert model.config.decoder_start_token_id == tokenizer.bos_token_id
    assert torch.isfinite(model.get_input_embeddings().weight).all()
    assert Job.objects.filter(kind=KIND).count() == 1


@pytest.mark.parametrize(
    ("reference", "asked", "is_taken"),
    [
        ("abstractive", "abstractive", True),
        ("abstractive by P07", "abstractive", True),
        ("extractive", "abstractive", False),
    ],
)
def test_a_form_of_written_summaries_includes_those_of_every_writer(reference: str, asked: str, is_taken: bool) -> None:
    assert seq2seq._has(reference, asked) is is_taken


def _without_markers(base: Path, folder: Path) -> None:
    """Copy a tiny BART without the tokens of MS^2."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    from generation.backends.assembly import MS2_MARKERS, TAG_MARKERS

    tokenizer, model = AutoTokenizer.from_pretrained(base), AutoModelForSeq2SeqLM.from_pretrained(base)
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    markers = {*MS2_MARKERS, *TAG_MARKERS}
    content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] not in markers]
    vocab = content["model"]["vocab"]
    for marker in markers & vocab.keys():
        vocab[f"unused{vocab.pop(marker)}"] = 0
    for number, token in enumerate(sorted(vocab, key=lambda token: vocab[token])):
        vocab[token] = number
    with torch.no_grad():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(content))
