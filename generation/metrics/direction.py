"""Delta-EI and direction F1 (MS^2): agreement of summary and target on increase and decrease.

One classifier reads both texts, for every pair of an intervention and an outcome of the unit. Human polarity ratings of
the target are never used, because they rate benefit or harm rather than increase or decrease.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.clusters.pico import in_words
from api.parameters import Parameter, Takes
from measures.direction import CLASSES, NATURAL_OF_BASE_2, PRIOR, Distribution, f1_of_counts, js_distances
from measures.lexicon_cues import lexicon_directions, lexicon_parameters
from measures.means import FROM_0, FROM_0_TO_1
from measures.pio import every_pair_of, pairs_of, parse_pio

from ..backends.protocol import Source
from .classifier import LABELS, Classifier, ClassifierItem
from .protocol import Figure, Judged, MetricError, Params, Row

NO_PAIRS = "no pair of an intervention and an outcome"
#: Maximum number of pairs; each is classified for each text. An MS^2 review has about ten.
MAX_PAIRS = 500
TOO_MANY = f"more than {MAX_PAIRS} pairs of an intervention and an outcome"
#: Words of benefit and harm. A classifier with such a class name does not distinguish increase from decrease.
POLARITY = frozenset(
    {
        "positive",
        "negative",
        "neutral",
        "pos",
        "neg",
        "neu",
        "benefit",
        "benefits",
        "beneficial",
        "harm",
        "harms",
        "harmful",
        "good",
        "bad",
        "better",
        "worse",
        "effective",
        "ineffective",
        "favorable",
        "favourable",
        "unfavorable",
        "unfavourable",
    }
)
#: The words of a polarity class of M3.
NO_EFFECT = {"no", "effect"}
#: The rules for deriving pairs from tags.
DISTINCT, EVERY = "distinct", "every tag"
_OF_MODEL = ("classifier", ("model",))
Pair = tuple[str, str]


class DirectionMetric:
    key = "direction"
    name = "Direction"
    description = (
        "Delta-EI, the Jensen-Shannon distance between the directions of target and summary for each pair of an "
        "intervention and an outcome, and F1 of the likeliest class. The classifier is your own, or the built-in cue "
        "lexicon, whose figures are not comparable with published ones."
    )
    parameters: tuple[Parameter, ...] = (
        Parameter(
            "classifier",
            Takes.CHOICE,
            "Classified by",
            "lexicon",
            choices=("lexicon", "model"),
            help="lexicon: words and rules, without weights. model: a sequence classifier.",
        ),
        Parameter(
            "pairs",
            Takes.CHOICE,
            "Pairs from",
            "auto",
            choices=("auto", "background", "pico"),
            help="background: its tagged <int> and <out>, as in MS^2. pico: the elements I and O of the unit. "
            "auto: the background if it has tags, otherwise the elements.",
        ),
        Parameter(
            "tags",
            Takes.CHOICE,
            "Tags of the background",
            DISTINCT,
            choices=(DISTINCT, EVERY),
            when=("pairs", ("auto", "background")),
            help="distinct (pairs_of): repeated tags count once, as in MS^2's files. every tag (every_pair_of): each "
            "occurrence counts, as in the scorers of MS^2 and MSLR.",
        ),
        Parameter(
            "model",
            Takes.TEXT,
            "Classifier",
            "",
            required=True,
            when=_OF_MODEL,
            help="A folder below the models folder, or a hub ID.",
        ),
        Parameter("revision", Takes.TEXT, "Revision", "main", when=_OF_MODEL),
        *(
            Parameter(name, Takes.TEXT, f"Class for: {description}", "", required=True, when=_OF_MODEL)
            for name, description in LABELS.items()
        ),
        Parameter(
            "prompt",
            Takes.TEXT,
            "First segment",
            "{intervention} {outcome}",
            when=_OF_MODEL,
            fields=("intervention", "outcome"),
            help="Input of the classifier before the text; {intervention} and {outcome} are replaced.",
        ),
    )
    figures: tuple[Figure, ...] = (
        Figure(
            "delta_ei",
            "Delta-EI (natural logarithm, 0 to 0.83)",
            decimals=3,
            bounds=(0.0, NATURAL_OF_BASE_2),
            better="lower",
            headline=True,
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
    )
    has_corpus = True

    def needs_torch(self, params: Params) -> bool:
        return bool(params["classifier"] == "model")

    def check(self, params: Params) -> None:
        """Raise `MetricError` unless the three classes are distinct and none names benefit or harm."""
        if params["classifier"] != "model":
            return
        labels = [params[name] for name in LABELS]
        if len(set(labels)) < len(labels):
            raise MetricError("The three directions need three different classes.")
        if polar := [label for label in labels if _names_polarity(label)]:
            raise MetricError(
                f"The class {polar[0]!r} names benefit or harm, not increase or decrease: fewer relapses are a "
                "decrease and a benefit. Direction is never compared with polarity."
            )

    def libraries(self, params: Params) -> dict[str, Any]:
        if params["classifier"] == "lexicon":
            return lexicon_parameters()
        from ..neural.encoders import classifier

        return classifier.facts(params)

    def load(self, params: Params) -> "DirectionScorer":
        return DirectionScorer(params)


class Lexicon:
    """Classifier that uses the cue lexicon and rules of `measures.lexicon_cues`."""

    def directions(self, items: Sequence[ClassifierItem]) -> list[Distribution]:
        return [
            lexicon_directions(text, [(intervention, outcome)])[0].distribution for text, intervention, outcome in items
        ]


def find_pairs(source: Source, pair_source: str, tags: str = DISTINCT) -> tuple[Pair, ...]:
    """Return the pairs of a unit: each distinct intervention with each distinct outcome, or one pair per combination of
    tags.
    """
    tagged = parse_pio(source.background)
    if pair_source == "background" or (pair_source == "auto" and tagged.spans):
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
        pairs = [find_pairs(judged.material.source, self.where, self.tags) for judged in batch]
        items = {
            (_without_tags(text), *pair): None
            for judged, unit_pairs in zip(batch, pairs, strict=True)
            for text in (judged.text, *(reference.text for reference in judged.material.references))
            for pair in unit_pairs[:MAX_PAIRS]
        }
        distributions = dict(zip(items, self.classifier.directions(list(items)), strict=True))
        return [self._rows(judged, unit_pairs, distributions) for judged, unit_pairs in zip(batch, pairs, strict=True)]

    def _rows(
        self, judged: Judged, pairs: Sequence[Pair], distributions: dict[ClassifierItem, Distribution]
    ) -> list[Row]:
        if not 0 < len(pairs) <= MAX_PAIRS:
            names = ("delta_ei", "delta_ei_base2", "delta_ei_prior")
            values: dict[str, float | None] = {**dict.fromkeys(names), "pairs": len(pairs)}
            undefined = dict.fromkeys(names, TOO_MANY if pairs else NO_PAIRS)
            return [Row(reference.unit, values, undefined) for reference in judged.material.references]
        outputs = [distributions[_without_tags(judged.text), *pair] for pair in pairs]
        return [
            Row(
                reference.unit,
                compare_directions([distributions[_without_tags(reference.text), *pair] for pair in pairs], outputs),
            )
            for reference in judged.material.references
        ]

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        """Compute F1 over the pairs of all summaries, each against its own target, from the counts in the rows."""
        counts: dict[int, Mapping[str, float | None]] = {}
        for judged, rows in everything:
            target = judged.material.own
            row = next((row for row in rows if target and row.reference == target.unit), None)
            counts[judged.summary] = row.values if row else {}
        return f1_of_counts(counts)


def compare_directions(targets: Sequence[Distribution], outputs: Sequence[Distribution]) -> dict[str, float | None]:
    """Return the figures of one summary against one target, over their pairs.

    Of equally likely classes the later one counts.
    """
    distance = float(js_distances(targets, outputs).mean())
    values: dict[str, float | None] = {
        "delta_ei": distance,
        "delta_ei_base2": distance / NATURAL_OF_BASE_2,
        "delta_ei_prior": float(js_distances(targets, [PRIOR] * len(targets)).mean()),
        "pairs": len(targets),
    }
    counts = {f"{target}/{output}": 0 for target in CLASSES for output in CLASSES}
    for target, output in zip(targets, outputs, strict=True):
        counts[f"{_likeliest_class(target)}/{_likeliest_class(output)}"] += 1
    return values | counts


def _names_polarity(label: str) -> bool:
    words = set(re.findall(r"[a-z]+", label.lower()))
    return bool(words & POLARITY) or words == NO_EFFECT


def _likeliest_class(distribution: Distribution) -> str:
    return CLASSES[max(range(len(CLASSES)), key=lambda i: (distribution[i], i))]


def _without_tags(text: str) -> str:
    """Return the text without the tags of MS^2, because only one of the two texts has them."""
    return parse_pio(text).text
