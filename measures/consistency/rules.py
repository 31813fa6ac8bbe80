"""The rules in the order in which a curator reads them: those that are hardly ever meant so come first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from measures import counterfactuals
from measures.spans import Ranges

from . import labels, near, relations, repeats, tuples, wording
from .claims import Claim, Cluster, Finding

Find = Callable[[Sequence[Cluster]], Iterable[Finding]]
Words = Callable[[Claim], Ranges]
#: How far a check is: (clusters looked at by the rule, rules done).
Told = Callable[[int, int, str], None]


def _no_words(claim: Claim) -> Ranges:
    return ()


def _cue(claim: Claim) -> Ranges:
    return claim.polarity_at


def _speaking_against(claim: Claim) -> Ranges:
    found = wording.contradiction(claim)
    return (found.at,) if found else ()


@dataclass(frozen=True, slots=True)
class Rule:
    """``key`` names it in files and commands, ``title`` on pages. ``kind`` is the task whose answer it doubts, "" where
    it is another matter than a label. ``in_doubt``: the words of a claim's text that it is about, half-open ranges of
    code points in order; none where it is about words that are lacking."""

    key: str
    title: str
    kind: str
    why: str
    find: Find
    in_doubt: Words = _no_words


def check(clusters: Sequence[Cluster], told: Told = lambda done, total, note: None) -> Iterator[Finding]:
    """What all rules find, rule by rule, the most telling findings of a rule first."""
    for number, rule in enumerate(RULES):
        told(number, len(RULES), rule.title)
        yield from sorted(rule.find(clusters), key=lambda f: (f.is_information, -f.weight))
    told(len(RULES), len(RULES), "")


def _of_claims(key: str, said: Callable[[Claim], Iterator[str]]) -> Find:
    def find(clusters: Sequence[Cluster]) -> Iterator[Finding]:
        for cluster in clusters:
            for claim in cluster.claims:
                for sentence in said(claim):
                    yield Finding(key, (claim.unit,), sentence, (claim.polarity, claim.modality))

    return find


def _relation(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        for sentence in relations.against_the_inputs(cluster):
            rests_on = (cluster.relation, *sorted(claim.polarity for claim in cluster.inputs))
            yield Finding("relation", (cluster.unit,), sentence, rests_on)


def _repeated_input(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        for later, first in repeats.repeated_inputs(cluster):
            reason = f"The same study ({later.study}) and text as {first.unit}."
            yield Finding("repeated input", (later.unit, first.unit), reason)


def _tuple_text(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        for slot, stray in tuples.stray_words(cluster):
            yield Finding("tuple text", (cluster.unit,), tuples.reason(slot, stray), (slot.name, slot.text))


def _wording(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        for claim in cluster.claims:
            if found := wording.contradiction(claim):
                yield Finding(
                    "wording", (claim.unit,), wording.reason(claim, found), (claim.polarity, found.says),
                    weight=found.weight,
                )  # fmt: skip


def _counterfactual(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        target = cluster.target
        for one in cluster.rewritings if target else ():
            assert target is not None
            kind = counterfactuals.Kind(one.kind)
            before = counterfactuals.Labels(target.polarity, target.modality) if target.is_labelled else None
            others = {counterfactuals.Kind(other): text for other, text in one.others.items()}
            found = counterfactuals.check(kind, target.text, one.text, pico=one.pico, others=others, before=before)
            broken = [*found.errors, *(w for w in found.warnings if w.code == counterfactuals.NOT_APPLICABLE)]
            for what in broken:
                reason = f"The {kind.value} counterfactual: {what.message}"
                yield Finding("counterfactual", (cluster.unit,), reason, (kind.value, what.code, one.text))


RULES: tuple[Rule, ...] = (
    Rule("n/a without no evidence", "N/A without no evidence", "label",
         "n/a is the polarity of a text without evidence, and of no other.",
         _of_claims("n/a without no evidence", labels.without_evidence), _cue),
    Rule("relation", "Relation against the inputs", "discourse",
         "Inputs agree when all have the same polarity.", _relation),
    Rule("differing labels", "One sentence, different labels", "label",
         "The same sentence of the same study says the same wherever it is used.", repeats.differing_labels, _cue),
    Rule("near duplicate", "Almost the same sentence, opposite polarity", "label",
         "Sentences that share nearly all words seldom say the opposite.", near.opposite, _cue),
    Rule("wording", "Polarity against the wording", "label",
         "The sentence's own negations and comparisons speak against the polarity.", _wording, _speaking_against),
    Rule("missing modality cue", "Modality without a cue", "label",
         "A modality other than moderate is shown by words.",
         _of_claims("missing modality cue", labels.modality_unshown)),
    Rule("missing polarity cue", "Polarity without a cue", "label",
         "A polarity is shown by words.", _of_claims("missing polarity cue", labels.polarity_unshown)),
    Rule("needless polarity cue", "N/A with a polarity cue", "label",
         "Without evidence there is no polarity to show.",
         _of_claims("needless polarity cue", labels.needless_cue), _cue),
    Rule("tuple text", "Tuple not from the target", "",
         "What a slot says is in the target, recomposed from it, or in brackets.", _tuple_text),
    Rule("repeated input", "Input twice in a cluster", "", "The same sentence counts twice.", _repeated_input),
    Rule("repeated tuple", "Tuple twice in a review", "",
         "Two clusters of a review with the same tuple are one cluster, or one tuple is mistaken.",
         repeats.repeated_tuples),
    Rule("counterfactual", "Counterfactual against its rule", "",
         "A counterfactual changes at most five words, and only what its kind allows.", _counterfactual),
)  # fmt: skip
