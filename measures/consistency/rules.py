"""The list of all rules, in display order: the most reliable rules come first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from measures import counterfactuals
from measures.consistency import labels, near, repeats, wording
from measures.consistency.claims import Claim, Cluster, Finding, Slot
from measures.consistency.near import AcrossClusters, Read
from measures.lexicon_cues import singular
from measures.sentences import tokens_of
from measures.spans import Ranges
from measures.unit_names import unit_name

#: Function words that a recomposed element may add, and the length of the compared word stems.
_SMALL = "a an and at by for from in into of on or the to with without vs versus plus its their other than"
SMALL = frozenset(_SMALL.split())
STEM = 5


def stray_words(cluster: Cluster) -> Iterator[tuple[Slot, list[str]]]:
    """Yield elements whose declared words are mostly missing from the target, with the missing words.

    A word counts as present if the target has a word with the same first letters ("glaucomatous", "glaucoma"). An
    element with at least half of its words in the target counts as recomposed.
    """
    if cluster.target is None:
        return
    target_stems = _stems(cluster.target.text)
    for slot in cluster.slots:
        words = _words(slot.explicit) if slot.is_reworded else []
        stray = [word for word in words if _stem(word) not in target_stems]
        if 2 * len(stray) > len(words):
            yield slot, stray


def reason(slot: Slot, stray: list[str]) -> str:
    words = ", ".join(f"“{word}”" for word in stray)
    return f"The {slot.name} “{slot.text.strip()}” is not in brackets, but the target does not contain {words}."


def _words(text: str) -> list[str]:
    return [key for key in tokens_of(text).keys if key[0].isalnum() and key not in SMALL]


def _stem(word: str) -> str:
    return singular(word)[:STEM]


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _words(text))


Find = Callable[[Sequence[Cluster]], Iterable[Finding]]
Words = Callable[[Claim], Ranges]
#: Progress callback: (clusters checked by the rule, rules completed).
ReportProgress = Callable[[int, int, str], None]


def _no_words(claim: Claim) -> Ranges:
    return ()


def _cue(claim: Claim) -> Ranges:
    return claim.polarity_at


def _contradicting_words(claim: Claim) -> Ranges:
    evidence = wording.contradiction(claim)
    return (evidence.at,) if evidence else ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A consistency rule.

    ``key`` is its name in files and commands, ``title`` its name on pages. ``kind`` is the task whose answer is
    questioned, "" if it is not a label. ``in_doubt`` returns the ranges of the questioned words in a claim's text,
    half-open, in code points, in order; it is empty for missing words. ``find`` checks each cluster separately.
    ``across`` creates the object that compares clusters, for rules that do.
    """

    key: str
    title: str
    kind: str
    why: str
    find: Find | None = None
    in_doubt: Words = _no_words
    across: Callable[[], AcrossClusters] | None = None


def check(clusters: Sequence[Cluster]) -> list[Finding]:
    """Return the findings of all rules, in the order of the rules, then the strongest first."""

    def read(numbers: Sequence[int]) -> Iterator[tuple[int, Cluster]]:
        return ((n, clusters[n]) for n in numbers)

    return sorted(findings([clusters], read), key=order)


def order(finding: Finding) -> tuple[int, bool, float]:
    """Return the sort key of a finding. Sorting is stable, so ties keep the order of discovery."""
    return _NUMBERS[finding.rule], finding.is_information, -finding.weight


def findings(
    batches: Iterable[Sequence[Cluster]], read: Read, report_progress: ReportProgress = lambda done, total, note: None
) -> Iterator[Finding]:
    """Yield the findings of all rules, unsorted.

    Clusters are passed in batches, which are not kept. ``read`` returns the clusters that a rule compares by their
    numbers from 0.
    """
    across = [(rule, rule.across()) for rule in RULES if rule.across]
    number = 0
    for clusters in batches:
        for rule in RULES:
            if rule.find:
                yield from rule.find(clusters)
        for cluster in clusters:
            for _, keys in across:
                keys.add(number, cluster)
            number += 1
    for done, (rule, keys) in enumerate(across):
        report_progress(done, len(across), rule.title)
        yield from keys.find(read)
    report_progress(len(across), len(across), "")


def _check_claims(key: str, sentences_of: Callable[[Claim], Iterator[str]]) -> Find:
    def find(clusters: Sequence[Cluster]) -> Iterator[Finding]:
        for cluster in clusters:
            for claim in cluster.claims:
                for sentence in sentences_of(claim):
                    yield Finding(key, (claim.unit,), sentence, (claim.polarity, claim.modality))

    return find


def _relation(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        for sentence in labels.against_the_inputs(cluster):
            rests_on = (cluster.relation, *sorted(claim.polarity for claim in cluster.inputs))
            yield Finding("relation", (cluster.unit,), sentence, rests_on)


def _repeated_input(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        for later, first in repeats.repeated_inputs(cluster):
            reason = f"The same study ({later.study}) and text as {unit_name(first.unit)}."
            yield Finding("repeated input", (later.unit, first.unit), reason)


def _tuple_text(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        for slot, stray in stray_words(cluster):
            yield Finding("tuple text", (cluster.unit,), reason(slot, stray), (slot.name, slot.text))


def _wording(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        for claim in cluster.claims:
            evidence = wording.contradiction(claim)
            if evidence and evidence.weight >= wording.CUT:
                yield Finding(
                    "wording",
                    (claim.unit,),
                    wording.reason(claim, evidence),
                    (claim.polarity, evidence.says),
                    weight=evidence.weight,
                )


def _counterfactual(clusters: Sequence[Cluster]) -> Iterator[Finding]:
    for cluster in clusters:
        target = cluster.target
        for rewriting in cluster.rewritings if target else ():
            assert target is not None
            kind = counterfactuals.Kind(rewriting.kind)
            before = counterfactuals.Labels(target.polarity, target.modality) if target.is_labelled else None
            others = {counterfactuals.Kind(other): text for other, text in rewriting.others.items()}
            result = counterfactuals.check(
                kind, target.text, rewriting.text, pico=rewriting.pico, others=others, before=before
            )
            broken = [*result.errors, *(w for w in result.warnings if w.code == counterfactuals.NOT_APPLICABLE)]
            for problem in broken:
                reason = f"The {kind.value} counterfactual: {problem.message}"
                yield Finding("counterfactual", (cluster.unit,), reason, (kind.value, problem.code, rewriting.text))


RULES: tuple[Rule, ...] = (
    Rule(
        "n/a without no evidence",
        "N/A without no evidence",
        "label",
        "The polarity n/a is only for texts without evidence.",
        _check_claims("n/a without no evidence", labels.without_evidence),
        _cue,
    ),
    Rule(
        "relation",
        "Relation contradicts the inputs",
        "discourse",
        "Inputs agree when all have the same polarity.",
        _relation,
    ),
    Rule(
        "differing labels",
        "One sentence, different labels",
        "label",
        "The same sentence of a study has the same labels wherever it is used.",
        in_doubt=_cue,
        across=repeats.DifferingLabels,
    ),
    Rule(
        "near duplicate",
        "Similar sentences, opposite polarity",
        "label",
        "Sentences that share nearly all words rarely have opposite polarity.",
        in_doubt=_cue,
        across=near.NearDuplicates,
    ),
    Rule(
        "wording",
        "Polarity contradicts the wording",
        "label",
        "Negations and comparisons in the sentence contradict the polarity.",
        _wording,
        _contradicting_words,
    ),
    Rule(
        "missing modality cue",
        "Modality without a cue",
        "label",
        "A modality other than moderate needs a cue.",
        _check_claims("missing modality cue", labels.modality_unshown),
    ),
    Rule(
        "missing polarity cue",
        "Polarity without a cue",
        "label",
        "A polarity needs a cue.",
        _check_claims("missing polarity cue", labels.polarity_unshown),
    ),
    Rule(
        "needless polarity cue",
        "N/A with a polarity cue",
        "label",
        "Without evidence there is no polarity, and so no cue.",
        _check_claims("needless polarity cue", labels.needless_cue),
        _cue,
    ),
    Rule(
        "tuple text",
        "Tuple not from the target",
        "",
        "The words of a PICO element are in the target, recomposed from it, or in brackets.",
        _tuple_text,
    ),
    Rule("repeated input", "Input twice in a cluster", "", "The same sentence counts twice.", _repeated_input),
    Rule(
        "repeated tuple",
        "Tuple twice in a review",
        "",
        "Two clusters of a review with the same tuple should be one cluster, or one tuple is wrong.",
        across=repeats.RepeatedTuples,
    ),
    Rule(
        "counterfactual",
        "Counterfactual violates its rule",
        "",
        "A counterfactual changes at most five words, and only what its kind allows.",
        _counterfactual,
    ),
)
_NUMBERS = {rule.key: n for n, rule in enumerate(RULES)}
