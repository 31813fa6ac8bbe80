"""Every backend and model family through a real worker: stored results equal those of one unit at a time."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from django.conf import LazySettings

from generation import backends
from generation.backends.protocol import InputText, Output, Probed, ProbedUnit, Source, Summariser
from generation.endpoints import parse
from generation.metrics.direction import compare_directions
from generation.runs.chunks import CONTAINS_NUL
from tests.generation import tiny_encoders, tiny_models
from tests.generation.endpoint import Endpoint, Handler, said, serving
from tests.processes.conftest import ON_POSTGRES
from tests.processes.site import Redis, Site, until

pytestmark = pytest.mark.processes
CLUSTERS = 6
WEIGHTS = {"device": "cpu", "dtype": "float32"}
BEAMS = {"beams": 3, "max_length": 20, "no_repeat_ngram": 3}
MMR = {"method": "MMR", "relevance": "pico"}
#: Model families; `make soak` uses all. Batches of each are tested without a worker in
#: tests/generation/test_seq2seq.py.
FAMILIES = (
    tuple(kind for kind in tiny_models.KINDS if kind != "llama") if "SOAK" in os.environ else ("bart", "led", "t5")
)
CONFIGS: dict[str, dict[str, Any]] = {
    "lead": {"backend": "extractive", "decoding": {"sentences": 2}},
    "random": {"backend": "extractive", "decoding": {"method": "random", "sentences": 2}, "seed": 5},
    "best rouge": {"backend": "extractive", "decoding": {"method": "best ROUGE-L", "against": "pico"}},
    "textrank": {"backend": "extractive", "decoding": {"method": "TextRank", "sentences": 1}},
    "mmr": {"backend": "extractive", "decoding": MMR},
    "mmr of embeddings": {"backend": "extractive", "decoding": MMR | {"vectors": "embeddings", "encoder": "encoder"}},
    "imported": {"backend": "imported"},
    "openai": {"backend": "openai", "model": {"model": "tiny"}, "prompt": {"template": "{pico} {{7*7}}: {inputs}"}},
    **{kind: {"backend": "seq2seq", "model": WEIGHTS | {"model": kind}, "decoding": BEAMS} for kind in FAMILIES},
    "multi_encode": {"backend": "multi_encode", "model": WEIGHTS | {"model": "bart"}, "decoding": BEAMS},
    "chat": {
        "backend": "chat",
        "model": WEIGHTS | {"model": "llama"},
        "decoding": {"max_new_tokens": 12},
        "prompt": {"template": "Sum up {pico}: {inputs}"},
    },
    "chat, sampled": {
        "backend": "chat",
        "model": WEIGHTS | {"model": "llama"},
        "decoding": {"method": "sampling", "max_new_tokens": 12},
    },
}
JUDGES = {*FAMILIES, "multi_encode", "chat", "chat, sampled"}
CLASSES = {"decreases": "down", "no_change": "same", "increases": "up"}
METRICS: dict[str, dict[str, Any]] = {
    "rouge": {},
    "bertscore": {"model": "tiny-bert", "layers": 2},
    "direction": {"classifier": "model", "model": "tiny-reader", **CLASSES},
}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        running.reply = answered
        yield running


def answered(handler: Handler) -> None:
    """Return a text that depends on the prompt."""
    handler.answer(said(f"{len(handler.prompt)}: {handler.prompt[-30:]}"))


def build_models(folder: Path) -> None:
    folder.mkdir()
    for kind in (*FAMILIES, "llama"):
        tiny_models.build(kind, folder / kind)
    tiny_encoders.build_sentence_encoder(folder / "encoder")
    tiny_encoders.build("bert", folder / "tiny-bert", positions=128)
    tiny_encoders.build("bert", folder / "tiny-reader", labels=tuple(CLASSES.values()), positions=128)


def start_workers(site: Site, redis: Redis | None) -> None:
    """One worker for everything; or, as documented for Redis, one for general jobs and one for models."""
    if redis:
        site.start_celery()
        site.start_gpu_celery()
        until(lambda: redis.listening() == 2, "two workers listen")
    else:
        site.start_worker()


@pytest.mark.long
def test_every_backend_through_a_worker_says_what_it_says_one_by_one(
    make_site: Callable[..., Site], endpoint: Endpoint, settings: LazySettings, request: pytest.FixtureRequest
) -> None:
    redis: Redis | None = request.getfixturevalue("redis") if ON_POSTGRES else None
    if redis:
        redis.start()
    site = make_site(redis.url if redis else "")
    site.environment |= {"OMP_NUM_THREADS": "1", "GENERATION_ENDPOINTS": f"lab={endpoint.url}"}
    settings.MODELS_DIR, settings.MEDIA_ROOT = site.folder / "models", site.folder / "files"
    settings.GENERATION_ENDPOINTS = parse(f"lab={endpoint.url}")
    start_workers(site, redis)
    build_models(settings.MODELS_DIR)

    versions = site.call("ask", module="summarisers", clusters=CLUSTERS, configs=CONFIGS)
    runs = site.call("run", module="summarisers", versions=versions)
    assert set(runs["summaries"]) == set(CONFIGS)
    assert set(runs["probe"]) == JUDGES, "and nobody else gives likelihoods"
    scores = site.call("score", module="summarisers", run=runs["summaries"]["bart"], metrics=METRICS)
    found = site.call("found", module="summarisers", runs=runs)

    units = {key: source_of(unit) for key, unit in found["units"].items()}
    assert len(units) == CLUSTERS
    for name, system in found["systems"].items():
        backend = backends.get(system["config"]["backend"])
        summariser = backend.load(system["config"], system["facts"])
        same_summaries(name, summariser, units, system["summaries"])
        if name in JUDGES:
            same_likelihoods(name, summariser, units, found["judged"], system["probe"])
        summariser.close()
    bart = {key: item["text"] for key, item in found["systems"]["bart"]["summaries"]["items"].items()}
    same_scores(scores, {key: (text, found["units"][key]) for key, text in bart.items() if text})

    by_models, by_others = (set(found["workers"][queue]) for queue in ("gpu", "default"))
    assert len(by_models) == 1
    assert by_models.isdisjoint(by_others) if redis else by_models == by_others
    for worker in site.others:
        said = worker.log.read_text()
        assert "Traceback" not in said
        assert "%|" not in said, "a log has no progress bars"


def source_of(unit: dict[str, Any]) -> Source:
    inputs = tuple(InputText(**text) for text in unit["inputs"])
    return Source(unit["unit"], unit["key"], inputs, unit["pico"], unit["background"], unit["question"])


def same_summaries(name: str, summariser: Summariser, units: dict[str, Source], run: dict[str, Any]) -> None:
    assert (run["state"], run["error"], run["items"].keys()) == ("done", "", units.keys()), name
    for key, source in units.items():
        (output,) = (out for batch in summariser.summarise([source]) for out in batch)
        assert isinstance(output, Output), (name, output)
        ids = None if output.token_ids is None else list(output.token_ids)
        stored, error = run["items"][key], CONTAINS_NUL if "\0" in output.text else ""
        expected = (None, None, error) if error else (output.text, ids, "")
        assert (stored["text"], stored["ids"], stored["error"]) == expected, (name, key)
    texts = [item["text"] for item in run["items"].values() if item["text"]]
    assert len(set(texts)) > CLUSTERS / 2, (name, "units have texts of their own")


def same_likelihoods(
    name: str, summariser: Summariser, units: dict[str, Source], judged: dict[str, list[str]], run: dict[str, Any]
) -> None:
    assert (run["state"], run["error"], run["items"].keys()) == ("done", "", judged.keys()), name
    for key, texts in judged.items():
        stored = run["items"][key]["likelihoods"]
        assert len(stored) == len(texts) == 3
        for text, (ids, nll) in zip(texts, stored, strict=True):
            (alone,) = (out for batch in summariser.probe([Probed(units[key], (text,))]) for out in batch)
            assert isinstance(alone, ProbedUnit), (name, alone)
            assert ids == list(alone.likelihoods[0].token_ids)
            by_itself = alone.likelihoods[0].nll
            # Such random weights give single tokens 30 nats, where float32 is imprecise.
            assert nll == pytest.approx(by_itself, rel=1e-4, abs=1e-4), (name, key, text)
            assert fmean(nll) == pytest.approx(fmean(by_itself), rel=1e-5), (name, key, text)


def same_scores(scores: dict[str, dict[str, Any]], summaries: dict[str, tuple[str, dict[str, Any]]]) -> None:
    from generation.neural.encoders import bertscore, classifier

    matcher, reader = (
        module.load(checked(metric, METRICS[metric]))
        for module, metric in ((bertscore, "bertscore"), (classifier, "direction"))
    )
    assert all(scores[metric].keys() == summaries.keys() for metric in METRICS)
    for key, (text, unit) in summaries.items():
        ((_, _, f1),) = matcher.score([(text, unit["target"])])
        assert scores["bertscore"][key]["bertscore_f1"] == pytest.approx(f1, abs=1e-5)
        pair = (unit["pico"]["i"], unit["pico"]["o"])
        target, output = (reader.directions([(words, *pair)]) for words in (unit["target"], text))
        assert scores["direction"][key]["delta_ei"] == pytest.approx(
            compare_directions(target, output)["delta_ei"], abs=1e-5
        )
        assert 0 <= scores["rouge"][key]["rouge1_f1"] <= 1


def checked(metric: str, params: dict[str, Any]) -> dict[str, Any]:
    from generation import metrics
    from generation.scoring import actions as scoring_actions

    return scoring_actions.checked(metrics.get(metric), params)
