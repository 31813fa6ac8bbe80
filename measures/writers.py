"""Agreement between people who wrote summaries of the same passages: ROUGE-2, ROUGE-L and BLEU of their texts.

Two writers of one text are a pair. ROUGE is F1 (0 to 1), which is the same in both directions; BLEU (0 to 100,
sacrebleu, effective order) is the mean of both directions. A figure is the mean over all pairs, with an interval over
questions (`measures.clustered`). In addition, each writer's extractive text is compared with the abstractive text of
the same writer as its reference (MEDIQA-AnS, Table 3). Pairs with an empty text ("nothing relevant") are left out and
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from .bleu import bleu
from .clustered import Bounds
from .means import FROM_0_TO_1, clustered_mean
from .rouge import ROUGE_LIBRARY, RougeKind, RougeText, rouge

Json = dict[str, Any]
EXTRACTIVE, ABSTRACTIVE = "extractive", "abstractive"
FORMS = (EXTRACTIVE, ABSTRACTIVE)
#: Passage of a summary of all passages.
ALL = "all"
MEASURES: Mapping[str, Bounds] = {"rouge2": FROM_0_TO_1, "rouge_l": FROM_0_TO_1, "bleu": (0.0, 100.0)}
_ROUGE: Mapping[str, RougeKind] = {"rouge2": "rouge2", "rouge_l": "rougeL"}
#: Number of pairs that a report lists as the most different ones.
LISTED = 10
METHOD = "mean over pairs of writers; BLEU: both directions averaged; interval over questions"
FORMS_METHOD = "each writer's extractive text against the same writer's abstractive text as the reference"


@dataclass(frozen=True, slots=True)
class Written:
    """A text of a writer. ``passage``: its key, or `ALL`."""

    question: str
    passage: str
    form: str
    writer: str
    text: str

    @property
    def scope(self) -> str:
        return ALL if self.passage == ALL else "passage"

    @classmethod
    def from_cells(cls, question: str, writer: str, cells: Mapping[str, str]) -> Written:
        """Return the text of a row of ``answers/write.csv``."""
        return cls(question, cells["passage"], cells["form"], writer, cells["written_text"])


class _Pair(NamedTuple):
    question: str
    passage: str
    writers: tuple[str, str]
    scores: Mapping[str, float]


class _Prepared:
    """A text, tokenized once for all its pairs."""

    def __init__(self, text: str) -> None:
        self.text, self.rouge = text, RougeText(text)


def agreement(texts: Iterable[Written]) -> Json:
    """Return all figures as plain values. The order of the texts does not matter."""
    rows = sorted(texts, key=lambda one: (one.question, one.passage, one.form, one.writer))
    prepared = {one: _Prepared(one.text) for one in rows if one.text.strip()}
    types, forms, lowest = [], [], []
    for scope in ("passage", ALL):
        of_scope = [one for one in rows if one.scope == scope]
        for form in FORMS:
            by_text = _grouped((one for one in of_scope if one.form == form), lambda one: (one.question, one.passage))
            both = [pair for group in by_text for pair in combinations(group, 2)]
            pairs = list(_between(both, prepared))
            lowest += [_listed(f"{scope} {form}", pair, form) for pair in pairs]
            types.append({"type": f"{scope} {form}"} | _figures(pairs, len(both) - len(pairs)))
        by_writer = _grouped(of_scope, lambda one: (one.question, one.passage, one.writer))
        same = [(group[1], group[0]) for group in by_writer if [one.form for one in group] == sorted(FORMS)]
        pairs = list(_against(same, prepared))
        forms.append({"type": scope} | _figures(pairs, len(same) - len(pairs)))
    lowest.sort(key=lambda row: (row["value"], row["question"], row["passage"], row["form"], row["writers"]))
    return {
        "method": METHOD,
        "forms_method": FORMS_METHOD,
        "libraries": {"rouge": ROUGE_LIBRARY, "bleu": bleu("a", ["a"]).signature},
        "writers": sorted({one.writer for one in rows}),
        "types": types,
        "forms": forms,
        "lowest": lowest[:LISTED],
    }


def _grouped(rows: Iterable[Written], key: Callable[[Written], Any]) -> list[list[Written]]:
    groups: dict[Any, list[Written]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())


def _between(pairs: Iterable[tuple[Written, Written]], prepared: Mapping[Written, _Prepared]) -> Iterator[_Pair]:
    """Yield the scores of pairs of writers, averaged over both directions."""
    for one, other in pairs:
        if one in prepared and other in prepared:
            there, back = (_scores(prepared[a], prepared[b]) for a, b in ((one, other), (other, one)))
            scores = {name: (there[name] + back[name]) / 2 for name in MEASURES}
            yield _Pair(one.question, one.passage, (one.writer, other.writer), scores)


def _against(pairs: Iterable[tuple[Written, Written]], prepared: Mapping[Written, _Prepared]) -> Iterator[_Pair]:
    """Yield the scores of candidates against their references."""
    for candidate, reference in pairs:
        if candidate in prepared and reference in prepared:
            scores = _scores(prepared[candidate], prepared[reference])
            yield _Pair(candidate.question, candidate.passage, (candidate.writer, reference.writer), scores)


def _scores(candidate: _Prepared, reference: _Prepared) -> dict[str, float]:
    """Return the scores of a candidate. A text too short for an n-gram has nothing in common with another: 0."""
    rouges = rouge(candidate.rouge, reference.rouge, kinds=list(_ROUGE.values()))
    scores = {name: rouges[kind].f1 or 0.0 for name, kind in _ROUGE.items()}
    return scores | {"bleu": bleu(candidate.text, [reference.text]).score or 0.0}


def _figures(pairs: Sequence[_Pair], left_out: int) -> Json:
    """Return the mean of each measure, with n pairs, n questions and the interval."""
    number = {question: n for n, question in enumerate(dict.fromkeys(pair.question for pair in pairs))}
    figures = {}
    for name, bounds in MEASURES.items():
        mean = clustered_mean(
            [pair.scores[name] for pair in pairs], [number[pair.question] for pair in pairs], bounds=bounds
        )
        # Elsewhere the clusters are reviews.
        figures[name] = mean.as_json() | {"ci_reason": mean.ci_reason.replace("review", "question")}
    return {"pairs": len(pairs), "questions": len(number), "left_out": left_out, "measures": figures}


def _listed(type: str, pair: _Pair, form: str) -> Json:
    return {
        "type": type,
        "question": pair.question,
        "passage": pair.passage,
        "form": form,
        "writers": list(pair.writers),
        "value": pair.scores["rouge_l"],
    }
