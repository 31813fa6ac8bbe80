"""Figures of a corpus of questions (MEDIQA-AnS): hosts of pages, lengths, extractive against abstractive texts.

Tokens are those of `measures.tokens`, sentences those of `measures.sentences`. Standard deviations are those of the
population, as in the paper.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from .bleu import corpus_of_tokens
from .sentences import SPLITTER, sentences
from .tokens import Tokenizer, tokenizer, tokenizer_name
from .writers import ABSTRACTIVE, ALL, EXTRACTIVE, Written

Json = dict[str, Any]
QUESTION, PASSAGE, PAGE, URL = "question", "passage", "page", "url"
NO_HOST = "no address"
#: Names of rows: a part of a question, or the scope and form of a written summary.
ROWS = (QUESTION, PASSAGE, PAGE, *(f"{scope} {form}" for scope in (PASSAGE, ALL) for form in (EXTRACTIVE, ABSTRACTIVE)))


@dataclass
class _Length:
    """Counts of the texts of one row, so that no text is held in memory."""

    n: int = 0
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    sentences: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, text: str, split: Tokenizer) -> None:
        self.n += 1
        for sums, count in ((self.tokens, len(split(text))), (self.sentences, len(sentences(text)))):
            sums[0] += count
            sums[1] += count * count

    def as_json(self, name: str) -> Json:
        return {"texts": name, "n": self.n} | {
            unit: {"mean": total / self.n, "sd": math.sqrt(self.n * squares - total * total) / self.n}
            for unit, (total, squares) in (("tokens", self.tokens), ("sentences", self.sentences))
        }


def question_figures(parts: Iterable[tuple[str, str]], summaries: Sequence[Written]) -> Json:
    """Return all figures as plain values.

    ``parts``: the part and the text of each question and passage; of a passage also its address, empty if unknown.
    Empty texts ("nothing relevant") have no length.
    """
    split, lengths = tokenizer(), {name: _Length() for name in ROWS}
    hosts: Counter[str] = Counter()
    for part, text in parts:
        if part == URL:
            hosts[host_of(text)] += 1
        elif text.strip():
            lengths[part].add(text, split)
    for one in summaries:
        if one.text.strip():
            lengths[f"{one.scope} {one.form}"].add(one.text, split)
    return {
        "tokenizer": tokenizer_name(),
        "splitter": SPLITTER,
        "lengths": [length.as_json(name) for name, length in lengths.items() if length.n],
        "hosts": [
            {"host": host, "passages": n}
            for host, n in sorted(hosts.items(), key=lambda row: (row[0] == NO_HOST, -row[1], row[0]))
        ],
        "forms": [row for scope in (PASSAGE, ALL) if (row := _forms(scope, summaries, split))],
    }


def host_of(url: str) -> str:
    """Return the host of an address in lower case, without "www."."""
    try:
        host = urlsplit(url.strip()).hostname or ""
    except ValueError:
        host = ""
    return host.removeprefix("www.") or NO_HOST


def _forms(scope: str, summaries: Sequence[Written], split: Tokenizer) -> Json | None:
    """Compare the extractive texts of a scope, as candidates, with the abstractive ones of the same writer."""
    texts: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in summaries:
        if one.scope == scope and one.text.strip():
            texts.setdefault((one.question, one.passage, one.writer), {})[one.form] = one.text
    pairs = [
        (split(texts[key][EXTRACTIVE]), split(texts[key][ABSTRACTIVE])) for key in sorted(texts) if len(texts[key]) == 2
    ]
    if not pairs:
        return None
    recalls = [value for pair in pairs if (value := _bigram_recall(*pair)) is not None]
    bleu = corpus_of_tokens(pairs)
    return {
        "texts": scope,
        "pairs": len(pairs),
        "bleu": bleu.score,
        "signature": bleu.signature,
        "rouge2_recall": math.fsum(recalls) / len(recalls) if recalls else None,
        "with_bigrams": len(recalls),
    }


def _bigram_recall(candidate: Sequence[str], reference: Sequence[str]) -> float | None:
    """Return ROUGE-2 recall over tokens as written, or None for a reference of less than two tokens."""
    mine, wanted = _bigrams(candidate), _bigrams(reference)
    return (mine & wanted).total() / wanted.total() if wanted else None


def _bigrams(tokens: Sequence[str]) -> Counter[tuple[str, str]]:
    return Counter(pairwise(tokens))


def parts_of(rows: Iterable[Mapping[str, str]]) -> Iterable[tuple[str, str]]:
    """Return the parts of the rows of a released file of texts."""
    return ((row["part"], row["part_text"]) for row in rows)
