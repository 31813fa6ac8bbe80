"""Synthetic corpora of the size of MS^2, in the files of M3 (level 1), MS^2 and MSLR2022.

Lengths of abstracts are those of MS^2's sample. The number of studies of a review is lognormal, 23 on average. The
number of pairs of a review is our choice (1 to 12, 5 on average), because no file but the sample with 27 is known.
"""

import csv
import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from measures.direction import MS2_CLASSES

from .loop import texts

#: Lengths of abstracts in the sample of MS^2, in characters.
LENGTHS = (729, 919, 1089, 1144, 1662, 1905, 1916, 1922, 1966, 2074, 2099, 2140, 2790, 11081)
#: Largest number of studies of a review. Their logarithm is normal, with 23 studies on average.
MOST_STUDIES, MEAN_LOG, DEVIATION = 401, 2.72, 0.9
#: Share of the studies that an earlier review has, too.
SHARED = 0.1
#: Words in a sentence, and words from one tag to the next (the sample has 13 spans in an abstract of 290 words).
SENTENCE, BETWEEN_TAGS = 24, 20
TAGS = ("pop", "int", "out")
#: In the order of MS^2's files, as in `annotation.models.reading`, which needs Django.
SENTENCE_CLASSES = (
    "EFFECT", "RECOMMENDATION", "BACKGROUND", "METHODS", "ETC", "EVIDENCE_QUALITY", "GOAL", "FURTHER_STUDY",
    "DETAILED_FINDINGS",
)  # fmt: skip
FIRST_REVIEW, FIRST_STUDY = 20_000_000, 1_000_000


@cache
def _prose() -> str:
    rng, words = random.Random(3), " ".join(texts()).split()
    return " ".join(rng.choice(words) for _ in range(200_000))


def _text(rng: random.Random) -> str:
    length = rng.choice(LENGTHS)
    start = rng.randrange(len(_prose()) - length)
    return _prose()[start : start + length].strip() or "x"


def _tagged(rng: random.Random) -> str:
    words = _text(rng).split()
    for at in reversed(range(rng.randrange(BETWEEN_TAGS), len(words) - 3, BETWEEN_TAGS)):
        tag, n_words = rng.choice(TAGS), rng.randint(1, 3)
        words[at : at + n_words] = [f"<{tag}>", *words[at : at + n_words], f"</{tag}>"]
    return " ".join(words)


def _reviews(count: int) -> Iterator[tuple[int, list[int]]]:
    """Yield the PMID of each review, and those of its studies. One review has one study, one has the most."""
    rng, studies = random.Random(3), 0
    for number in range(count):
        drawn = int(rng.lognormvariate(MEAN_LOG, DEVIATION))
        size = {0: 1, 1: MOST_STUDIES}.get(number, min(max(drawn, 1), MOST_STUDIES))
        own: dict[int, None] = {}
        while len(own) < size:
            if studies and rng.random() < SHARED:
                own[FIRST_STUDY + rng.randrange(studies)] = None
            else:
                own[FIRST_STUDY + studies] = None
                studies += 1
        yield FIRST_REVIEW + number, list(own)


def _of_study(pmid: int) -> random.Random:
    """Return the source of chance of a study, because two reviews must have the same abstract of it."""
    return random.Random(pmid)


# M3, level 1


def write_m3(folder: Path, reviews: int) -> list[Path]:
    rng = random.Random(4)
    with (folder / "level1.jsonl").open("w", encoding="utf-8") as file:
        for pmid, pmids in _reviews(reviews):
            studies = [{"source_pmid": str(one), "source_text": _text(_of_study(one))} for one in pmids]
            item = {
                "docid": str(pmid),
                "target_text": _text(rng),
                "input_text": " ||||| ".join(study["source_text"] for study in studies),
                "input_studies": studies,
            }
            file.write(json.dumps(item, ensure_ascii=False) + "\n")
    return [folder / "level1.jsonl"]


# MS^2


def _distribution(classes: tuple[str, ...], rng: random.Random) -> dict[str, float]:
    weights = [rng.random() ** 4 + 1e-6 for _ in classes]
    return {name: weight / sum(weights) for name, weight in zip(classes, weights, strict=True)}


def _effects(pairs: list[tuple[str, str]], evidence: str, rng: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "intervention": intervention,
            "outcome": outcome,
            "classification": _distribution(MS2_CLASSES, rng),
            "evidence_sentence": evidence,
            "evidence_sentence_score": rng.random() / 20,
        }
        for intervention, outcome in pairs
    ]


def _sentence_of(tagged: str) -> str:
    """Return a sentence of the plain text: the words between two tags."""
    return max(tagged.replace("</", "<").split("<"), key=len).partition("> ")[2].strip() or tagged.split()[0]


def _quotes(tagged: str, tag: str) -> list[str]:
    return [part.partition(f" </{tag}>")[0] for part in tagged.split(f"<{tag}> ")[1:]]


def _reference(pmid: int, pairs: list[tuple[str, str]], rng: random.Random) -> dict[str, Any]:
    own = _of_study(pmid)
    tagged = _tagged(own)
    metadata = {"YEAR": own.randint(1970, 2020), "SO": "Journal of Trials", "AU": []}
    reference = {
        "identifiers": [], "metadata": metadata, "title": f"A trial of {pmid}", "doi": None, "pmid": str(pmid),
        "s2id": pmid, "s2hash": f"{pmid:040x}", "abstract": tagged, "content": None,
        "publication_types": ["Randomized Controlled Trial"],
        "significances": _effects(pairs, _sentence_of(tagged), rng),
        "interventions": None, "outcomes": None, "populations": None, "in_doc_significances": None,
    }  # fmt: skip
    return {"references": [reference], "identifiers": [], "metadata": metadata, "pmid": str(pmid), "doi": None}


def _sentences(tagged: str, rng: random.Random) -> list[list[Any]]:
    """Return (class, sentence, probabilities). A sentence ends outside tags."""
    words, found = tagged.split(), []
    order = ("BACKGROUND", "GOAL", "METHODS", "METHODS", "DETAILED_FINDINGS", "DETAILED_FINDINGS", "EFFECT")
    while words:
        end = SENTENCE
        while end < len(words) and words[end - 1] in {f"<{tag}>" for tag in TAGS}:
            end += 1
        found.append(" ".join(words[:end]))
        words = words[end:]
    return [
        [order[min(n, len(order) - 1)], sentence, _distribution(SENTENCE_CLASSES, rng)]
        for n, sentence in enumerate(found)
    ]


def write_ms2(folder: Path, reviews: int) -> list[Path]:
    rng = random.Random(4)
    with (folder / "reviews.jsonl").open("w", encoding="utf-8") as file:
        for pmid, pmids in _reviews(reviews):
            tagged = _tagged(rng)
            n_interventions, n_outcomes = rng.randint(1, 3), rng.randint(1, 4)
            pairs = [(f"drug {i}", f"outcome {o}") for i in range(n_interventions) for o in range(n_outcomes)]
            item = {
                "docid": str(pmid), "title": f"Effects of {pmid}", "authors": "", "abstract": tagged,
                "structured_abstract": _sentences(tagged, rng), "summary": None, "structured_summary": [],
                "included_studies": [_reference(one, pairs, rng) for one in pmids],
                "ongoing_studies": [], "awaiting_studies": [], "excluded_studies": [], "general_references": [],
                "unattributed_references": [], "content": None, "doi": None, "s2id": str(pmid),
                "s2hash": f"{pmid:040x}", "pmid": pmid,
                "interventions": _quotes(tagged, "int"), "outcomes": _quotes(tagged, "out"),
                "populations": _quotes(tagged, "pop"), "significances": _effects(pairs, _sentence_of(tagged), rng),
            }  # fmt: skip
            file.write(json.dumps(item) + "\n")
    return [folder / "reviews.jsonl"]


# MSLR


def write_mslr(folder: Path, reviews: int) -> list[Path]:
    rng = random.Random(4)
    names = ("train-inputs.csv", "train-targets.csv", "train-reviews-info.csv")
    paths = [folder / name for name in names]
    rows = 0
    with ExitStack() as opened:
        files = [opened.enter_context(path.open("w", newline="", encoding="utf-8")) for path in paths]
        inputs, targets, infos = (csv.writer(file, lineterminator="\n") for file in files)
        inputs.writerow(["", "ReviewID", "PMID", "Title", "Abstract"])
        targets.writerow(["", "ReviewID", "Target"])
        infos.writerow(["", "ReviewID", "Background"])
        for number, (pmid, pmids) in enumerate(_reviews(reviews)):
            for study in pmids:
                inputs.writerow([rows, pmid, study, f"A trial of {study}", _tagged(_of_study(study))])
                rows += 1
            targets.writerow([number, pmid, "\n".join(_text(rng)[:160] for _ in range(2))])
            infos.writerow([number, pmid, " ".join(_tagged(rng).split()[:120])])
    return paths


#: Functions that write a corpus of a number of reviews to a folder, and return its files.
WRITERS: Mapping[str, Callable[[Path, int], list[Path]]] = {"m3": write_m3, "ms2": write_ms2, "mslr": write_mslr}
