"""Reading texts with tiny classifiers from folders: labels, values, hashes, resuming, and what people decided."""

import hashlib
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from accounts.models import User
from annotation.models import SENTENCE_CLASSES, Effect, Inclusion, MachineReading, ReadingTask, Review, Sentence, Study
from annotation.readings.current import current_readings
from api.problems import Conflict, Refused
from audit.models import RowDigest
from audit.row_digests import differences, store_pending_digests
from generation.backends.protocol import BackendError
from generation.readings import actions, labels, tasks
from measures.pio import retag, spans_of
from projects.curation.actions import correct
from projects.gold.queries import current_values
from projects.jobs.running import Cancelled
from projects.models import Import, Job, Member, Project
from releases.formats import ms2 as ms2_format
from releases.formats.notes import Notes
from tests.annotation.ms2_files import import_records, review, write
from tests.builders import build_round
from tests.generation.tiny_encoders import build

torch = pytest.importorskip("torch")
BIO = ("O", "B-P", "I-P", "B-I", "I-I", "B-O", "I-O")
DIRECTIONS = ("decreases", "no change", "increases")
FOLDERS: dict[str, tuple[tuple[str, ...], bool]] = {
    "classes": (SENTENCE_CLASSES, False),
    "separators": (SENTENCE_CLASSES, True),
    "tagger": (BIO, True),
    "directions": (DIRECTIONS, False),
    "finder": (("no evidence", "evidence"), False),
    "fitness": (("exclude", "include"), False),
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("readers")
    for name, (names, of_tokens) in FOLDERS.items():
        build("bert", root / name, labels=names, of_tokens=of_tokens, positions=128)
    return root


@pytest.fixture
def ms2(folders: Path, settings: LazySettings, project: Project, tmp_path: Path) -> Project:
    """Two reviews of MS^2 with two pairs each, an included study and a general reference."""
    settings.MODELS_DIR = folders
    import_records(project, write(tmp_path / "a.jsonl", [review(7), review(8)]))
    return project


def hash_of(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def newest(**of: Any) -> MachineReading:
    return MachineReading.objects.exclude(weights="").filter(**of).latest("pk")


@pytest.mark.django_db
@pytest.mark.parametrize("model", ["classes", "separators"])
def test_classes_of_sentences_are_those_of_the_model_and_carry_its_hash(
    ms2: Project, folders: Path, model: str
) -> None:
    made = actions.read(project=ms2, task="sentences", model=model)
    assert (made["read"], made["failed"], made["texts"]) == (2, 0, 2)
    reading = newest(review__pmid="7")
    assert (reading.model, reading.weights) == (model, hash_of(folders / model))
    text = Review.objects.get(pmid="7").abstract
    values = reading.values["sentences"]
    imported = MachineReading.objects.get(review__pmid="7", task="sentences", weights="").values["sentences"]
    assert [one["end"] for one in values] == [one["end"] for one in imported]
    for value in values:
        assert sum(value["probabilities"]) == pytest.approx(1)
        assert value["class"] == SENTENCE_CLASSES[value["probabilities"].index(max(value["probabilities"]))]
    # The same by transformers, for a single sentence.
    if model == "classes":
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        words = AutoTokenizer.from_pretrained(folders / model)
        loaded = AutoModelForSequenceClassification.from_pretrained(folders / model)
        with torch.inference_mode():
            logits = loaded(**words(text[: values[0]["end"]], return_tensors="pt")).logits
        assert values[0]["probabilities"] == pytest.approx(logits.softmax(-1)[0].tolist(), abs=1e-5)
    facts = reading.imported.report["facts"]
    assert facts["model"]["weights"] == reading.weights
    assert set(facts["libraries"]) == {"torch", "transformers", "tokenizers"}


@pytest.mark.django_db
def test_tags_are_the_words_that_the_model_labels_in_reviews_and_studies(ms2: Project) -> None:
    made = actions.read(project=ms2, task="pio", model="tagger")
    assert made["read"] == Review.objects.count() + Study.objects.count() == 4
    for reading in MachineReading.objects.exclude(weights=""):
        article = reading.review or reading.study
        assert article
        spans, strays = spans_of(article.abstract, reading.values["tags"])
        assert strays == 0
        assert all(article.abstract[slice(*span.range)].strip() for span in spans)
        assert retag(article.abstract, reading.values["tags"]).count("</") == len(spans)
    assert any(reading.values["tags"] for reading in MachineReading.objects.exclude(weights=""))


def test_neighbouring_words_of_one_element_are_a_span_until_one_begins(folders: Path, settings: LazySettings) -> None:
    settings.MODELS_DIR = folders
    reader = tasks.Spans("tagger", "")
    text = "Drug A for adults with pain"
    words = [(0, 4), (5, 6), (7, 10), (11, 17), (18, 22), (22, 27)]
    named = ["B-I", "I-I", "O", "B-P", "B-P", "I-O"]
    found = reader.spans(text, [(*at, BIO.index(name)) for at, name in zip(words, named, strict=True)])
    assert [(span.kind, text[slice(*span.range)]) for span in found] == [
        ("int", "Drug A"),
        ("pop", "adults"),
        ("pop", "with"),
        ("out", "pain"),
    ]


@pytest.mark.django_db
def test_a_long_text_is_tagged_in_windows_as_a_short_one(ms2: Project, folders: Path) -> None:
    from generation.neural.encoders.reading import Reader

    reader = Reader(folders / "tagger", "tokens")
    sentence = "Drug A lowers pain in adults."
    text = " ".join([sentence] * 40)
    short, long = reader.tag([sentence, text])
    assert not isinstance(short, Exception)
    assert not isinstance(long, Exception)
    assert [word[:2] for word in long[: len(short)]] == [word[:2] for word in short]
    assert len(long) == 40 * len(short)
    assert long[-1][1] == len(text)


@pytest.mark.django_db
@pytest.mark.parametrize("evidence", ["", "finder"])
def test_effects_are_asked_of_each_pair_of_the_review_in_its_studies(ms2: Project, evidence: str) -> None:
    made = actions.read(project=ms2, task="effects", model="directions", evidence=evidence)
    # Two reviews, and their included studies; no general reference.
    assert made["read"] == 4
    effects = Effect.objects.exclude(reading__weights="")
    assert effects.count() == 8
    assert effects.filter(reading__inclusion__role="general").count() == 0
    for effect in effects.select_related("reading__inclusion__study", "reading__review", "pair"):
        shares = [effect.decreased, effect.no_difference, effect.increased]
        assert sum(shares) == pytest.approx(1)
        assert effect.direction == ("decreased", "no difference", "increased")[shares.index(max(shares))]
        text = (effect.reading.inclusion.study if effect.reading.inclusion else effect.reading.review).abstract  # type: ignore[union-attr]
        assert text[effect.start : effect.end].strip()
        assert 0 <= effect.score <= 1
        if not evidence:
            assert effect.score == pytest.approx(1 - effect.no_difference)
    inclusion = Inclusion.objects.included().first()
    assert inclusion
    assert newest(inclusion=inclusion).effects.count() == 2


@pytest.mark.django_db
def test_fitness_is_the_probability_of_its_class(ms2: Project) -> None:
    assert actions.read(project=ms2, task="suitability", model="fitness")["read"] == 2
    assert 0 < newest(review__pmid="8").values["probability"] < 1


@pytest.mark.django_db
def test_a_stopped_reading_continues_and_new_texts_are_added(
    ms2: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generation.readings.texts.BATCH", 1)
    told: list[tuple[int, int | None]] = []

    def stop(done: int, total: int | None, note: str) -> None:
        told.append((done, total))
        if done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        actions.read(project=ms2, task="sentences", model="classes", progress=stop)
    assert (told, MachineReading.objects.exclude(weights="").count()) == ([(0, 2), (1, 2)], 1)
    assert actions.read(project=ms2, task="sentences", model="classes")["read"] == 1
    assert actions.read(project=ms2, task="sentences", model="classes")["read"] == 0
    import_records(ms2, write(tmp_path / "b.jsonl", [review(9)]))
    assert actions.read(project=ms2, task="sentences", model="classes")["read"] == 1
    assert Import.objects.filter(format="readings").count() == 1


@pytest.mark.django_db
def test_models_stay_beside_each_other_and_the_newest_reading_is_current_until_a_person_decides(
    ms2: Project, lead: User
) -> None:
    unit = Review.objects.get(pmid="7").unit
    for model in ("classes", "separators"):
        actions.read(project=ms2, task="sentences", model=model)
    assert MachineReading.objects.filter(review__unit=unit, task="sentences").count() == 3
    assert current_readings(ReadingTask.SENTENCES, "review").get(review__unit=unit).model == "separators"
    by = Member.objects.get(project=ms2, user=lead)
    read = newest(review__unit=unit).values["sentences"]
    said = [{"number": n, "said": "ETC"} for n in range(1, len(read) + 1)]
    decided = Review.objects.get(pmid="8").unit
    correct(unit=decided, kind="sentences", value={"sentence_classes": said}, reason="Wrong.", by=by)
    options = {"sentence_task": "sentence_classes"}
    build_round(ms2, [by], kind="sentences", purpose="review and correct", overlap=1, options=options)
    shown = current_values([unit], "sentences")[unit.pk]["sentence_classes"]
    assert [one["said"] for one in shown] == [one["class"] for one in read]
    actions.read(project=ms2, task="sentences", model="classes")
    assert current_values([decided], "sentences")[decided.pk]["sentence_classes"] == said


@pytest.mark.django_db
def test_the_released_file_keeps_the_imported_readings(ms2: Project) -> None:
    def released() -> bytes:
        return b"".join(line for _, lines in ms2_format.files(ms2, Notes()) for line in lines)

    before = released()
    for task, model in (("sentences", "classes"), ("pio", "tagger"), ("effects", "directions")):
        actions.read(project=ms2, task=task, model=model)
    assert released() == before
    assert not Sentence.objects.exists(), "reading does not split abstracts"


@pytest.mark.django_db
def test_a_folder_with_other_classes_is_refused_before_anything_is_read(
    ms2: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_open", pytest.fail)
    for task, model, message in (
        ("sentences", "directions", "EFFECT; RECOMMENDATION"),
        ("effects", "classes", "significantly decreased or decreased"),
        ("pio", "classes", "needs a classifier of tokens"),
        ("suitability", "tagger", "needs a classifier of sequences"),
        ("pio", "separators", "B-P, I-P"),
        ("pio", "nowhere", "no folder 'nowhere'"),
        ("pio", "owner/name", "no folder 'owner/name'"),
    ):
        for ask in (actions.queue_reading, actions.read):
            with pytest.raises(Refused, match=message):
                ask(project=ms2, task=task, model=model, by=None)
    with pytest.raises(Refused, match="Only effects have a second model"):
        actions.queue_reading(project=ms2, task="pio", model="tagger", evidence="finder", by=None)
    assert not Job.objects.filter(kind=actions.KIND).exists()
    assert not MachineReading.objects.exclude(weights="").exists()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (BIO, [None, "pop", "pop", "int", "int", "out", "out"]),
        (("N", "P", "I", "O"), [None, "pop", "int", "out"]),
        (("none", "outcome", "intervention", "population"), [None, "out", "int", "pop"]),
        (("O", "I-POP", "I-INT", "I-OUT"), [None, "pop", "int", "out"]),
        (("O", "P", "I", "none"), [0]),
        (("P", "I", "O"), [0]),
        (("O", "B-P", "I-P", "I", "I-O"), [0]),
        (("O", "none", "I-P", "I-I", "I-O"), [0]),
        (("LABEL_0", "LABEL_1"), [0]),
    ],
)
def test_labels_of_words_are_bio_tags_or_plain_names(names: tuple[str, ...], expected: list[Any]) -> None:
    if expected == [0] and names != ("O", "P", "I", "none"):
        with pytest.raises(BackendError, match="Expected: P, I and O"):
            labels.tags(names)
    elif expected == [0]:
        assert [tag.kind for tag in labels.tags(names)] == ["out", "pop", "int", None]
    else:
        assert [tag.kind for tag in labels.tags(names)] == expected


def test_classes_may_have_other_names_but_none_may_be_missing_or_occur_twice() -> None:
    assert labels.columns(["Significantly increased", "DECREASED", "no_change"], labels.DIRECTIONS) == [1, 2, 0]
    for wrong in (["increased", "decreased"], ["increased", "decreased", "decrease"], []):
        with pytest.raises(BackendError, match="The folder has the labels"):
            labels.columns(wrong, labels.DIRECTIONS)


@pytest.mark.django_db
def test_the_same_weights_with_another_configuration_are_refused(
    ms2: Project, folders: Path, settings: LazySettings, tmp_path: Path
) -> None:
    actions.read(project=ms2, task="suitability", model="fitness")
    settings.MODELS_DIR = tmp_path
    shutil.copytree(folders / "fitness", tmp_path / "turned")
    config = tmp_path / "turned" / "config.json"
    config.write_text(
        config.read_text().replace("exclude", "x").replace("include", "exclude").replace('"x"', '"include"')
    )
    with pytest.raises(Conflict, match="another tokenizer, configuration"):
        actions.read(project=ms2, task="suitability", model="turned")


@pytest.mark.django_db
def test_a_command_queues_the_job_or_runs_it(ms2: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*more: str) -> str:
        out = StringIO()
        call_command("read", "--project", ms2.slug, "--task", "pio", "--model", "tagger", *more, stdout=out)
        return out.getvalue()

    assert "work --queue gpu" in run()
    [job] = Job.objects.filter(kind=actions.KIND)
    assert (job.queue, job.status) == ("gpu", "queued")
    assert "4 of 4 texts read by tagger" in run("--here")
    assert Job.objects.filter(kind=actions.KIND).count() == 1
    with pytest.raises(CommandError, match="labels"):
        call_command("read", "--project", ms2.slug, "--task", "sentences", "--model", "directions")


@pytest.mark.django_db
def test_a_text_that_fails_is_reported_and_read_the_next_time(ms2: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    problems: list[tuple[str, str]] = []
    classify: Callable[..., Any]
    from generation.neural.encoders.reading import Reader

    classify = Reader.classify

    def failing(self: Reader, items: Any) -> Any:
        results = classify(self, items)
        results[0] = ValueError("too odd")
        return results

    with monkeypatch.context() as patched:
        patched.setattr(Reader, "classify", failing)
        made = actions.read(
            project=ms2, task="suitability", model="fitness", problem=lambda *what: problems.append(what)
        )
    assert (made["read"], made["failed"], problems) == (1, 1, [("review 7", "too odd")])
    assert actions.read(project=ms2, task="suitability", model="fitness")["read"] == 1


@pytest.mark.django_db
def test_readings_of_a_model_can_be_withdrawn_and_the_audit_explains_it(ms2: Project) -> None:
    actions.read(project=ms2, task="effects", model="directions")
    actions.read(project=ms2, task="sentences", model="classes")
    store_pending_digests()
    out = StringIO()
    command = ("read", "--project", ms2.slug, "--task", "effects", "--model", "directions", "--withdraw")
    call_command(*command, stdout=out)
    assert "4 readings withdrawn" in out.getvalue()
    left = MachineReading.objects.exclude(weights="")
    assert set(left.values_list("task", flat=True)) == {"sentences"}
    assert Effect.objects.filter(reading__weights="").count() == Effect.objects.count() > 0
    digests = RowDigest.objects.filter(label="annotation.machinereading")
    assert [difference for row in digests for difference in differences(row)] == []
    assert actions.read(project=ms2, task="effects", model="directions")["read"] == 4
    assert Import.objects.filter(format="readings").count() == 2
