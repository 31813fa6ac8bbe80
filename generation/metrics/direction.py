"""Delta-EI and direction F1 (MS^2): do summary and target say the same of what rises and falls?

Both are read by one classifier, for every pair of an intervention and an outcome of the unit. What people said of a
target's polarity never comes in: that is benefit or harm, not rise or fall.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.corpus.pico import in_words
from api.parameters import Parameter, Takes
from measures.direction import CLASSES, NATURAL_OF_BASE_2, PRIOR, Distribution, f1_of_counts, js_distances
from measures.lexicon_direction import lexicon_directions, lexicon_parameters
from measures.means import FROM_0, FROM_0_TO_1
from measures.pio import every_pair_of, pairs_of, parse_pio

from ..backends.protocol import Source
from .classifier import LABELS, Asked, Classifier
from .protocol import Figure, Judged, MetricError, Params, Row

NO_PAIRS = "no pair of an intervention and an outcome"
#: Each pair is asked of each text; in MS^2 a review has some ten.
MOST_PAIRS = 500
TOO_MANY = f"more than {MOST_PAIRS} pairs of an intervention and an outcome"
#: Words of benefit and harm: a classifier with one of these in a class's name does not tell rise from fall.
POLARITY = frozenset({
    "positive", "negative", "neutral", "pos", "neg", "neu", "benefit", "benefits", "beneficial", "harm", "harms",
    "harmful", "good", "bad", "better", "worse", "effective", "ineffective", "favorable", "favourable", "unfavorable",
    "unfavourable",
})  # fmt: skip
#: M3's own name for a polarity.
NO_EFFECT = {"no", "effect"}
#: How tags become pairs.
DISTINCT, EVERY = "distinct", "every tag"
_OF_MODEL = ("classifier", ("model",))
Pair = tuple[str, str]


class DirectionMetric:
    key = "direction"
    name = "Direction"
    description = (
        "Delta-EI, the Jensen-Shannon distance between what the target and what the summary say of each pair of an "
        "intervention and an outcome, and F1 of the likeliest class. Read by a classifier of your own, or by the word "
        "list that ships, whose figures are not comparable with published ones."
    )
    parameters: tuple[Parameter, ...] = (
        Parameter("classifier", Takes.CHOICE, "Read by", "lexicon", choices=("lexicon", "model"),
                  help="lexicon: words and rules, no weights. model: a sequence classifier."),
        Parameter("pairs", Takes.CHOICE, "Pairs from", "auto", choices=("auto", "background", "pico"),
                  help="background: its tagged <int> and <out>, as MS^2 does. pico: the unit's slots I and O. "
                  "auto: the background where it has tags, else the slots."),
        Parameter("tags", Takes.CHOICE, "Of the background's tags", DISTINCT, choices=(DISTINCT, EVERY),
                  when=("pairs", ("auto", "background")),
                  help="distinct: what is tagged once or more counts once, as in MS^2's files. every tag: as often as "
                  "it is tagged, as MS^2's and MSLR's scorers take it."),
        Parameter("model", Takes.TEXT, "Classifier", "", required=True, when=_OF_MODEL,
                  help="A folder below the models' folder, or a hub id."),
        Parameter("revision", Takes.TEXT, "Revision", "main", when=_OF_MODEL),
        *(
            Parameter(name, Takes.TEXT, f"Its class for: {said}", "", required=True, when=_OF_MODEL)
            for name, said in LABELS.items()
        ),
        Parameter("prompt", Takes.TEXT, "First segment", "{intervention} {outcome}", when=_OF_MODEL,
                  fields=("intervention", "outcome"),
                  help="What the classifier reads before the text; {intervention} and {outcome} are filled in."),
    )  # fmt: skip
    figures: tuple[Figure, ...] = (
        Figure(
            "delta_ei", "Delta-EI (natural logarithm, 0 to 0.83)", decimals=3, bounds=(0.0, NATURAL_OF_BASE_2),
            better="lower", headline=True,
        ),
        Figure("delta_ei_base2", "Delta-EI (base 2, 0 to 1)", decimals=3, bounds=FROM_0_TO_1, better="lower"),
        Figure(
            "delta_ei_prior",
            "Delta-EI of always the prior (natural logarithm)",
            decimals=3,
            bounds=(0.0, NATURAL_OF_BASE_2),
        ),
        Figure("pairs", "Pairs", decimals=1, bounds=FROM_0),
        *(
            Figure(f"{target}/{output}", f"Pairs: target {target}, summary {output}", decimals=1, bounds=FROM_0)
            for target in CLASSES
            for output in CLASSES
        ),
    )  # fmt: skip
    has_corpus = True

    def needs_torch(self, params: Params) -> bool:
        return bool(params["classifier"] == "model")

    def check(self, params: Params) -> None:
        """Three classes, each another one, none of them of benefit or harm."""
        if params["classifier"] != "model":
            return
        labels = [params[name] for name in LABELS]
        if len(set(labels)) < len(labels):
            raise MetricError("Each of the three directions needs a class of its own.")
        if wrong := [label for label in labels if _names_polarity(label)]:
            raise MetricError(
                f"A class called {wrong[0]!r} tells benefit from harm, not rise from fall: fewer relapses are a fall "
                "and a benefit. Direction is never scored against polarity."
            )

    def libraries(self, params: Params) -> dict[str, Any]:
        if params["classifier"] == "lexicon":
            return lexicon_parameters()
        from ..neural.encoders import classifier

        return classifier.facts(params)

    def load(self, params: Params) -> "DirectionScorer":
        return DirectionScorer(params)


class Lexicon:
    """Words and rules; says of itself what it is (`measures.lexicon_direction`)."""

    def directions(self, asked: Sequence[Asked]) -> list[Distribution]:
        return [lexicon_directions(text, [(one, other)])[0].distribution for text, one, other in asked]


def pairs_in(source: Source, where: str, tags: str = DISTINCT) -> tuple[Pair, ...]:
    """The pairs of a unit: each distinct intervention with each distinct outcome, or each tag of one with each of the
    other."""
    tagged = parse_pio(source.background)
    if where == "background" or (where == "auto" and tagged.spans):
        rule = every_pair_of if tags == EVERY else pairs_of
        return rule(tagged.interventions, tagged.outcomes)
    return pairs_of([in_words(source.pico.get("i", ""))], [in_words(source.pico.get("o", ""))])


class DirectionScorer:
    def __init__(self, params: Params) -> None:
        self.where, self.tags = params["pairs"], params["tags"]
        self.classifier: Classifier = Lexicon()
        if params["classifier"] == "model":
            from ..neural.encoders import classifier

            self.classifier = classifier.load(params)

    def score(self, batch: Sequence[Judged]) -> list[list[Row]]:
        pairs = [pairs_in(judged.material.source, self.where, self.tags) for judged in batch]
        asked = {
            (_plain(text), *pair): None
            for judged, of_unit in zip(batch, pairs, strict=True)
            for text in (judged.text, *(reference.text for reference in judged.material.references))
            for pair in of_unit[:MOST_PAIRS]
        }
        said = dict(zip(asked, self.classifier.directions(list(asked)), strict=True))
        return [self._rows(judged, of_unit, said) for judged, of_unit in zip(batch, pairs, strict=True)]

    def _rows(self, judged: Judged, pairs: Sequence[Pair], said: dict[Asked, Distribution]) -> list[Row]:
        if not 0 < len(pairs) <= MOST_PAIRS:
            names = ("delta_ei", "delta_ei_base2", "delta_ei_prior")
            nothing: dict[str, float | None] = {**dict.fromkeys(names), "pairs": len(pairs)}
            why = dict.fromkeys(names, TOO_MANY if pairs else NO_PAIRS)
            return [Row(reference.unit, nothing, why) for reference in judged.material.references]
        outputs = [said[_plain(judged.text), *pair] for pair in pairs]
        return [
            Row(reference.unit, compared([said[_plain(reference.text), *pair] for pair in pairs], outputs))
            for reference in judged.material.references
        ]

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        """F1 over the pairs of all summaries, each against its own target, from the counts in the rows."""
        found: dict[int, Mapping[str, float | None]] = {}
        for judged, rows in everything:
            own = judged.material.references[0].unit if judged.material.references else None
            row = next((row for row in rows if own is not None and row.reference == own), None)
            found[judged.summary] = row.values if row else {}
        return f1_of_counts(found)


def compared(targets: Sequence[Distribution], outputs: Sequence[Distribution]) -> dict[str, float | None]:
    """The figures of one summary against one target, over their pairs. Of equally likely classes the later counts."""
    distance = float(js_distances(targets, outputs).mean())
    values: dict[str, float | None] = {
        "delta_ei": distance, "delta_ei_base2": distance / NATURAL_OF_BASE_2,
        "delta_ei_prior": float(js_distances(targets, [PRIOR] * len(targets)).mean()), "pairs": len(targets),
    }  # fmt: skip
    counts = {f"{target}/{output}": 0 for target in CLASSES for output in CLASSES}
    for target, output in zip(targets, outputs, strict=True):
        counts[f"{_likeliest(target)}/{_likeliest(output)}"] += 1
    return values | counts


def _names_polarity(label: str) -> bool:
    words = set(re.findall(r"[a-z]+", label.lower()))
    return bool(words & POLARITY) or words == NO_EFFECT


def _likeliest(distribution: Distribution) -> str:
    return CLASSES[max(range(len(CLASSES)), key=lambda i: (distribution[i], i))]


def _plain(text: str) -> str:
    """Without the tags that MS^2's texts carry: only one of the two sides has them."""
    return parse_pio(text).text
