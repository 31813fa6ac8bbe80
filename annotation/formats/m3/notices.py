"""Import warnings for M3 content that is imported unchanged.

Warnings cover cues that are absent or ambiguous, values against the annotation guideline, and repeated inputs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from measures import spans
from measures.consistency import Claim, Cluster, labels, repeats

from ...clusters.items import ELEMENTS, Item, TextLabels
from ...imports.format import Notice
from ...imports.json_lines import quoted
from ...imports.reading import Habits

ABSENT = "cue absent"
OTHER_CASE = "cue differs in case"
AMBIGUOUS = "cue occurs more than once"
CUE_SPACE = "cue begins or ends in a space"
PICO_SPACE = "PICO element begins or ends in a space"
LITERAL = 'literal "n/a" as a cue'
MODALITY_WITHOUT_CUE = "modality other than moderate without a cue"
POLARITY_WITHOUT_CUE = "polarity without a cue"
NEEDLESS_CUE = "n/a with a polarity cue"
RELATION = "relation against the rule"
REPEATED = "input repeated within the item"
GAP = "numbers of a review with a gap"
SPELLING = "spelling of the file"
#: Maximum number of missing numbers listed per review.
GAPS = 20


def file_notices(habits: Habits) -> list[Notice]:
    return [Notice(SPELLING, sentence) for sentence in habits.sentences()]


def item_notices(item: Item) -> Iterator[Notice]:
    for element, text in zip(ELEMENTS, item.pico, strict=False):
        if text != text.strip():
            yield Notice(PICO_SPACE, "Kept with its spaces.", item.key, "target", f"pico.{element}", text)
    if item.labels:
        yield from _text_notices(item.key, "target", "target", item.text, item.labels)
    for number, source in enumerate(item.inputs, start=1):
        if source.labels:
            yield from _text_notices(item.key, f"input {number}", "source", source.text, source.labels)
    if not item.relation and len({source.pmid for source in item.inputs}) == len(item.inputs):
        return
    cluster = _as_cluster(item)
    for later, first in repeats.repeated_inputs(cluster):
        message = f"Same study and text as {first.unit}. Both are kept."
        yield Notice(REPEATED, message, item.key, later.unit, "input_studies", later.study)
    for reason in labels.against_the_inputs(cluster):
        yield Notice(RELATION, f"{reason} The stored value is kept.", item.key, "", "discourse_relation", item.relation)


def _as_cluster(item: Item) -> Cluster:
    """Return the item as input of the consistency rules. Inputs are named by their position."""
    inputs = [
        Claim(f"input {number}", source.text, source.pmid, source.labels.polarity if source.labels else "")
        for number, source in enumerate(item.inputs, start=1)
    ]
    return Cluster(item.key, item.review, None, inputs, relation=item.relation)


def _text_notices(docid: str, place: str, side: str, text: str, text_labels: TextLabels) -> Iterator[Notice]:
    for name, cue in (("modality", text_labels.modality_cue), ("direction", text_labels.polarity_cue)):
        yield from _cue_notices(docid, place, f"{side}_{name}_span", text, cue)
    claim = Claim(
        place, text, "", text_labels.polarity, text_labels.modality, text_labels.polarity_cue, text_labels.modality_cue
    )
    for kind, rule, name, cue in (
        (MODALITY_WITHOUT_CUE, labels.modality_unshown, "modality", ""),
        (NEEDLESS_CUE, labels.needless_cue, "direction", text_labels.polarity_cue),
        (POLARITY_WITHOUT_CUE, labels.polarity_unshown, "direction", ""),
    ):
        for reason in rule(claim):
            yield Notice(kind, reason, docid, place, f"{side}_{name}_span", cue)


def _cue_notices(docid: str, place: str, field: str, text: str, cue: str) -> Iterator[Notice]:
    if not cue:
        return
    located = spans.locate(text, cue)
    if cue == "n/a":
        yield Notice(LITERAL, "Kept as the cue's text.", docid, place, field, cue)
    if cue != cue.strip():
        yield Notice(CUE_SPACE, "Kept with its spaces.", docid, place, field, cue)
    if located.status == "absent":
        yield Notice(ABSENT, "It does not occur in the text. Kept without a position.", docid, place, field, cue)
        return
    start, end = located.ranges[0]
    if located.status == "case":
        yield Notice(OTHER_CASE, f"The text has {quoted(text[start:end], 200)}.", docid, place, field, cue)
    if located.occurrences > 1:
        message = f"It occurs {located.occurrences} times (ignoring case). The position used is {start}-{end}."
        yield Notice(AMBIGUOUS, message, docid, place, field, cue)


def gap_notices(keys: Iterable[str]) -> Iterator[Notice]:
    """Yield warnings about missing numbers. Published numbers start at 0 and have no gaps within a review.

    The keys of one review must follow each other.
    """
    for review, numbered in groupby(keys, lambda key: key.partition("_")[0]):
        present = sorted(int(key.partition("_")[2] or 0) for key in numbered)
        missing = list(islice(_missing(present), GAPS + 1))
        if missing:
            listed = ", ".join(map(str, missing[:GAPS])) + (" and more" if len(missing) > GAPS else "")
            yield Notice(GAP, f"The file lacks numbers {listed} of this review.", review, "", "docid")


def _missing(numbers: Iterable[int]) -> Iterator[int]:
    """Yield the integers missing from an increasing sequence that should start at 0."""
    expected = 0
    for number in numbers:
        yield from range(expected, number)
        expected = number + 1


def value_counts(items: Iterable[Item]) -> dict[str, dict[str, int]]:
    """Count the values of each field."""
    counts: dict[str, Counter[str]] = {
        name: Counter()
        for name in ("discourse_relation", "target_modality", "target_direction", "source_modality", "source_direction")
    }
    for item in items:
        counts["discourse_relation"][item.relation] += 1
        sides = [("target", item.labels), *(("source", s.labels) for s in item.inputs)]
        for side, text_labels in sides:
            if text_labels:
                counts[f"{side}_modality"][text_labels.modality] += 1
                counts[f"{side}_direction"][text_labels.polarity] += 1
    return {name: dict(counter.most_common()) for name, counter in counts.items()}
