"""What is odd in M3 and kept as it is: cues that are not found or not once, rows against the guideline, repeats."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from measures import spans
from measures.consistency import Claim, Cluster, labels, relations, repeats

from ...corpus.items import SLOTS, Item, Said
from ..formats import Notice
from ..json_lines import shown
from ..reading import Habits

ABSENT = "cue absent"
BUT_FOR_CASE = "cue differs in case"
AMBIGUOUS = "cue occurs more than once"
CUE_SPACE = "cue begins or ends in a space"
PICO_SPACE = "PICO slot begins or ends in a space"
LITERAL = 'literal "n/a" as a cue'
UNSHOWN_MODALITY = "modality other than moderate without a cue"
UNSHOWN_POLARITY = "polarity without a cue"
NEEDLESS_CUE = "n/a with a polarity cue"
RELATION = "relation against the rule"
REPEATED = "input repeated within the item"
GAP = "numbers of a review with a gap"
SPELLING = "spelling of the file"
#: How many missing numbers of a review are told.
GAPS = 20


def of_file(habits: Habits) -> list[Notice]:
    return [Notice(SPELLING, sentence) for sentence in habits.sentences()]


def of_item(item: Item) -> Iterator[Notice]:
    for slot, text in zip(SLOTS, item.pico, strict=False):
        if text != text.strip():
            yield Notice(PICO_SPACE, "Kept with its spaces.", item.key, "target", f"pico.{slot}", text)
    if item.said:
        yield from _of_text(item.key, "target", "target", item.text, item.said)
    for number, source in enumerate(item.inputs, start=1):
        if source.said:
            yield from _of_text(item.key, f"input {number}", "source", source.text, source.said)
    cluster = _as_read(item)
    for later, first in repeats.repeated_inputs(cluster):
        message = f"The same study and text as {first.unit}; both are kept."
        yield Notice(REPEATED, message, item.key, later.unit, "input_studies", later.study)
    for reason in relations.against_the_inputs(cluster):
        yield Notice(RELATION, f"{reason} The stored value is kept.", item.key, "", "discourse_relation", item.relation)


def _as_read(item: Item) -> Cluster:
    """The item as the rules of consistency read it, inputs named by their place."""
    inputs = [
        Claim(f"input {number}", source.text, source.pmid, source.said.polarity if source.said else "")
        for number, source in enumerate(item.inputs, start=1)
    ]
    return Cluster(item.key, item.review, None, inputs, relation=item.relation)


def _of_text(docid: str, place: str, side: str, text: str, said: Said) -> Iterator[Notice]:
    for name, cue in (("modality", said.modality_cue), ("direction", said.polarity_cue)):
        yield from _of_cue(docid, place, f"{side}_{name}_span", text, cue)
    claim = Claim(place, text, "", said.polarity, said.modality, said.polarity_cue, said.modality_cue)
    for kind, rule, name, cue in (
        (UNSHOWN_MODALITY, labels.modality_unshown, "modality", ""),
        (NEEDLESS_CUE, labels.needless_cue, "direction", said.polarity_cue),
        (UNSHOWN_POLARITY, labels.polarity_unshown, "direction", ""),
    ):
        for reason in rule(claim):
            yield Notice(kind, reason, docid, place, f"{side}_{name}_span", cue)


def _of_cue(docid: str, place: str, field: str, text: str, cue: str) -> Iterator[Notice]:
    if not cue:
        return
    found = spans.locate(text, cue)
    if cue == "n/a":
        yield Notice(LITERAL, "Kept as the cue's text.", docid, place, field, cue)
    if cue != cue.strip():
        yield Notice(CUE_SPACE, "Kept with its spaces.", docid, place, field, cue)
    if found.status == "absent":
        yield Notice(ABSENT, "It does not occur in the text; kept without a place.", docid, place, field, cue)
        return
    start, end = found.ranges[0]
    if found.status == "case":
        yield Notice(BUT_FOR_CASE, f"The text has {shown(text[start:end], 200)}.", docid, place, field, cue)
    if found.occurrences > 1:
        message = f"It occurs {found.occurrences} times (case aside); the place taken is {start}-{end}."
        yield Notice(AMBIGUOUS, message, docid, place, field, cue)


def of_gaps(items: Iterable[Item]) -> list[Notice]:
    """Published numbers run from 0 without a gap within a review."""
    numbers: dict[str, list[int]] = {}
    for item in items:
        review, _, number = item.key.partition("_")
        if number:
            numbers.setdefault(review, []).append(int(number))
    out = []
    for review, found in numbers.items():
        missing = list(islice(_missing(sorted(found)), GAPS + 1))
        if missing:
            listed = ", ".join(map(str, missing[:GAPS])) + (" and more" if len(missing) > GAPS else "")
            out.append(Notice(GAP, f"The file has no number {listed} of this review.", review, "", "docid"))
    return out


def _missing(numbers: Iterable[int]) -> Iterator[int]:
    """What is not among numbers that rise from 0."""
    expected = 0
    for number in numbers:
        yield from range(expected, number)
        expected = number + 1


def value_counts(items: Iterable[Item]) -> dict[str, dict[str, int]]:
    """How often each value stands in each field."""
    counts: dict[str, Counter[str]] = {
        name: Counter()
        for name in ("discourse_relation", "target_modality", "target_direction", "source_modality", "source_direction")
    }
    for item in items:
        counts["discourse_relation"][item.relation] += 1
        sides = [("target", item.said), *(("source", s.said) for s in item.inputs)]
        for side, said in sides:
            if said:
                counts[f"{side}_modality"][said.modality] += 1
                counts[f"{side}_direction"][said.polarity] += 1
    return {name: dict(counter.most_common()) for name, counter in counts.items()}
