"""Extractive summaries compared with slow references, and properties of all of them."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from generation import backends
from generation.backends.extractive.methods import METHODS, cosines, marginal, overlap_similarities, text_rank
from generation.backends.identity import checked
from generation.backends.protocol import BackendError, Failure, InputText, Output, Source
from measures.sentences import sentences

A = "Nepralin reduced relapse. Nobody was harmed. The trial was small."
B = "Relapse was reduced by nepralin in adults. Costs were not looked at."
C = "Placebo did nothing."


def unit(*texts: str, key: str = "111_0", **fields: Any) -> Source:
    inputs = tuple(InputText(text, key=str(number)) for number, text in enumerate(texts))
    return Source(unit=1, key=key, inputs=inputs, **fields)


def config(*, seed: int = 0, assembly: dict[str, Any] | None = None, **decoding: Any) -> dict[str, Any]:
    return checked({"backend": "extractive", "seed": seed, "assembly": assembly or {}, "decoding": decoding})


def outcomes(sources: Sequence[Source], **given: Any) -> list[Output | Failure]:
    made = config(**given)
    backend = backends.get("extractive")
    summariser = backend.load(made, backend.facts(made))
    return [one for group in summariser.summarise(sources) for one in group]


def summary(source: Source, **given: Any) -> Output:
    (one,) = outcomes([source], **given)
    assert isinstance(one, Output), one
    return one


def failure(source: Source, **given: Any) -> str:
    (one,) = outcomes([source], **given)
    assert isinstance(one, Failure), one
    return one.reason


def picked(output: Output) -> list[tuple[int, int]]:
    return [(s["input"], s["start"]) for s in output.record["sentences"]]


def test_lead_takes_the_first_sentences_of_the_joined_inputs() -> None:
    made = summary(unit(C, A), sentences=3)
    assert made.text == "Placebo did nothing. Nepralin reduced relapse. Nobody was harmed."
    assert picked(made) == [(0, 0), (1, 0), (1, 26)]


def test_lead_of_each_takes_the_first_sentence_of_every_input() -> None:
    made = summary(unit(A, B, C), method="lead of each", sentences=100)
    assert made.text == "Nepralin reduced relapse. Relapse was reduced by nepralin in adults. Placebo did nothing."


def test_lead_follows_input_order_and_names_the_stored_input() -> None:
    made = summary(unit(C, A, B), assembly={"order": "longest first", "documents": 1}, sentences=1)
    assert (made.text, picked(made)) == ("Relapse was reduced by nepralin in adults.", [(2, 0)])


def test_if_fewer_sentences_exist_than_asked_for_all_are_used_with_a_note() -> None:
    made = summary(unit(C), sentences=3)
    assert made.text == C
    assert made.record["note"] == "1 of 3 sentences: the inputs have no more."
    assert "note" not in summary(unit(A), sentences=3).record


@pytest.mark.parametrize("method", METHODS)
def test_inputs_without_a_sentence_are_a_failure_with_its_reason(method: str) -> None:
    assert failure(unit(" \n ", ""), method=method) == "The inputs contain no sentence."


def test_a_limit_of_words_ends_before_the_first_sentence_that_does_not_fit() -> None:
    assert summary(unit(A), limit="words", words=10).text == A
    assert summary(unit(A), limit="words", words=9).text == "Nepralin reduced relapse. Nobody was harmed."
    assert failure(unit(A), limit="words", words=2) == "The first sentence has more than 2 words, the maximum length."


def test_random_sentences_are_those_of_seed_and_unit_whatever_the_batch() -> None:
    words = [f"Sentence number {n} stands here." for n in range(40)]
    units = [unit(*words, key=f"{n}_0") for n in range(6)]
    alone = [summary(source, method="random", seed=5).text for source in units]
    together = outcomes(list(reversed(units)), method="random", seed=5)
    assert [one.text for one in together if isinstance(one, Output)] == alone[::-1]
    assert len(set(alone)) > 1
    assert [summary(source, method="random", seed=6).text for source in units] != alone


def test_random_sentences_come_in_the_order_of_the_document_or_as_drawn() -> None:
    source = unit(*(f"Sentence number {n} stands here." for n in range(40)))
    drawn = picked(summary(source, method="random", sentences=8, arrangement="score"))
    assert drawn != sorted(drawn)
    assert picked(summary(source, method="random", sentences=8)) == sorted(drawn)


def test_a_duplicate_sentence_is_used_once_by_default() -> None:
    assert summary(unit(C, C, A), method="random", sentences=5).text.count(C) == 1
    assert summary(unit(C, C, A), method="random", sentences=5, distinct=False).text.count(C) == 2


@pytest.mark.parametrize("against", ["question", "background", "pico"])
def test_best_rouge_is_the_ranking_of_rouge_score(against: str) -> None:
    asked = "Does nepralin reduce relapse in adults?"
    fields = {"pico": {"p": "adults", "i": "nepralin", "o": "relapse"}} if against == "pico" else {against: asked}
    reference = "adults nepralin relapse" if against == "pico" else asked
    scorer = rouge_scorer.RougeScorer(["rougeL"])
    texts = [*sentences(A), *sentences(B), *sentences(C)]
    by_hand = sorted(texts, key=lambda text: -scorer.score(reference, text)["rougeL"].fmeasure)
    given: dict[str, Any] = {"method": "best ROUGE-L", "against": against, "arrangement": "score", "sentences": 6}
    assert summary(unit(A, B, C, **fields), **given).text == " ".join(by_hand)


def test_best_rouge_without_a_reference_fails_with_the_reason() -> None:
    lacks = {
        against: failure(unit(A), method="best ROUGE-L", against=against)
        for against in ("question", "background", "pico")
    }
    assert lacks == {
        "question": "The unit has no question to compare with.",
        "background": "The unit has no background to compare with.",
        "pico": "The unit has no PICO tuple to compare with.",
    }
    assert "no word" in failure(unit(A, question="β < ≥ ?"), method="best ROUGE-L")


def tokens(text: str) -> list[str]:
    kept = "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789" else " " for c in text.lower())
    return kept.split()


def slow_overlap(a: str, b: str) -> float:
    below = math.log(max(len(tokens(a)), 1)) + math.log(max(len(tokens(b)), 1))
    return len(set(tokens(a)) & set(tokens(b))) / below if below else 0.0


def slow_text_rank(weights: list[list[float]], damping: float) -> list[float]:
    n = len(weights)
    scores = [1.0] * n
    for _ in range(400):
        sums = [sum(w for k, w in enumerate(row) if k != j) for j, row in enumerate(weights)]
        scores = [
            (1 - damping)
            + damping * sum(weights[j][i] / sums[j] * scores[j] for j in range(n) if j != i and weights[j][i])
            for i in range(n)
        ]
    return scores


def slow_cosine(texts: list[str]) -> list[list[float]]:
    seen = Counter(word for text in texts for word in set(tokens(text)))
    idf = {word: math.log((1 + len(texts)) / (1 + n)) + 1 for word, n in seen.items()}
    vectors = [{word: n * idf[word] for word, n in Counter(tokens(text)).items()} for text in texts]
    lengths = [math.sqrt(sum(x * x for x in vector.values())) for vector in vectors]
    return [
        [
            sum(x * b.get(word, 0) for word, x in a.items()) / (m * n) if m and n else 0.0
            for b, n in zip(vectors, lengths, strict=True)
        ]
        for a, m in zip(vectors, lengths, strict=True)
    ]


WORDS = st.sampled_from(["a", "b", "c", "d", "ee", "ff", "β", "12"])
TEXTS = st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=8)


@given(TEXTS, st.sampled_from([0.0, 0.5, 0.85, 0.95]))
def test_similarities_and_text_rank_are_those_of_the_slow_reference(texts: list[str], damping: float) -> None:
    slow = [[slow_overlap(a, b) for b in texts] for a in texts]
    assert np.allclose(overlap_similarities(texts), slow, atol=1e-12)
    assert np.allclose(cosines(texts), slow_cosine(texts), atol=1e-12)
    ranked = text_rank(overlap_similarities(texts), damping=damping, tolerance=1e-10)
    assert np.allclose(ranked, slow_text_rank(slow, damping), atol=1e-7)


def test_text_rank_ties_go_to_the_earlier_sentence() -> None:
    ring = unit("Alpha beta gamma.", "Alpha beta gamma!", "Alpha beta gamma?", "Delta.")
    made = summary(ring, method="TextRank", sentences=2, arrangement="score")
    assert picked(made) == [(0, 0), (1, 0)]
    assert picked(summary(ring, method="TextRank", sentences=4, arrangement="score"))[-1] == (3, 0)


@pytest.mark.parametrize("similarity", ["word overlap", "tf-idf cosine"])
def test_text_rank_puts_the_sentence_that_shares_most_first(similarity: str) -> None:
    made = summary(unit(A, B, C), method="TextRank", sentences=1, similarity=similarity)
    assert "elapse" in made.text


def slow_mmr(similar: list[list[float]], relevance: list[float], trade_off: float) -> list[int]:
    taken: list[int] = []
    while len(taken) < len(relevance):
        left = [i for i in range(len(relevance)) if i not in taken]
        worth = {
            i: round(trade_off * relevance[i] - (1 - trade_off) * max((similar[i][j] for j in taken), default=0.0), 9)
            for i in left
        }
        taken.append(max(left, key=lambda i: (worth[i], -i)))
    return taken


@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_mmr_is_that_of_the_slow_reference_negative_cosines_included(n: int, seed: int, trade_off: float) -> None:
    chance = random.Random(seed)
    similar = np.array([[chance.choice([-0.5, 0.0, 0.25, 0.5, 1.0]) for _ in range(n)] for _ in range(n)])
    similar = (similar + similar.T) / 2
    relevance = np.array([chance.choice([-0.5, 0.0, 0.5, 1.0]) for _ in range(n)])
    assert list(marginal(lambda i: similar[i], relevance, trade_off)) == slow_mmr(
        similar.tolist(), relevance.tolist(), trade_off
    )


def test_mmr_by_tf_idf_takes_what_is_relevant_and_not_the_same_again() -> None:
    source = unit(
        "Nepralin reduced relapse in adults.",
        "Nepralin reduced relapse in all adults.",
        "Costs rose.",
        question="Does nepralin reduce relapse in adults?",
    )
    given: dict[str, Any] = {"method": "MMR", "relevance": "question", "sentences": 2}
    assert picked(summary(source, **given, trade_off=1)) == [(0, 0), (1, 0)]
    assert picked(summary(source, **given, trade_off=0.3)) == [(0, 0), (2, 0)]
    assert failure(unit(A), **given) == "The unit has no question to compare with."


def test_methods_that_hold_all_sentences_in_memory_refuse_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generation.backends.extractive.methods.MAX_SENTENCES", 2)
    for method in ("TextRank", "MMR"):
        assert failure(unit(A), method=method) == "The inputs have 3 sentences; this method supports at most 2."


@given(
    st.lists(st.text(st.sampled_from("aB12 .?!\n()β𝛃\t"), max_size=60), max_size=5),
    st.sampled_from(sorted(METHODS)),
    st.integers(0, 3),
    st.sampled_from(["sentences", "words"]),
    st.sampled_from(["document", "score"]),
)
def test_every_sentence_of_a_summary_stands_in_the_inputs_word_for_word(
    texts: list[str], method: str, seed: int, limit: str, arrangement: str
) -> None:
    source = unit(*texts, question="a B 12")
    given: dict[str, Any] = {"sentences": 2} if limit == "sentences" else {"words": 4}
    (one,) = outcomes([source], method=method, seed=seed, limit=limit, arrangement=arrangement, **given)
    if isinstance(one, Failure):
        assert one.reason.startswith(("The inputs contain no sentence", "The first sentence has more than"))
        return
    shown = [source.inputs[s["input"]].text[s["start"] : s["end"]] for s in one.record["sentences"]]
    assert one.text == " ".join(shown)
    assert all(shown)
    if limit == "words":
        assert len(one.text.split()) <= 4
    else:
        assert len(shown) <= 2
    if arrangement == "document" or method.startswith("lead"):
        assert picked(one) == sorted(picked(one))


def test_facts_name_what_a_method_depends_on_and_nothing_else() -> None:
    backend = backends.get("extractive")
    assert backend.facts(config()) == {
        "rules": "concord-extractive 1",
        "splitter": "concord-sentences 1",
        "libraries": {},
    }
    assert set(backend.facts(config(method="random"))["libraries"]) == {"python"}
    assert set(backend.facts(config(method="MMR"))["libraries"]) == {"numpy", "scipy"}
    assert not backend.needs_torch(config(method="MMR"))
    assert backend.needs_torch(config(method="MMR", vectors="embeddings", encoder="minilm"))
    assert backend.weights(config(method="MMR", vectors="embeddings", encoder="minilm")) == "minilm"


def test_changed_reading_rules_produce_no_outputs_of_an_old_version() -> None:
    made, backend = config(), backends.get("extractive")
    with pytest.raises(BackendError, match="splitter: concord-sentences 0 became concord-sentences 1"):
        backend.load(made, backend.facts(made) | {"splitter": "concord-sentences 0"})


def test_summaries_are_yielded_in_groups_as_they_are_done() -> None:
    made = config()
    backend = backends.get("extractive")
    groups = list(backend.load(made, backend.facts(made)).summarise([unit(A, key=str(n)) for n in range(70)]))
    assert sum(map(len, groups)) == 70
    assert len(groups) > 1
