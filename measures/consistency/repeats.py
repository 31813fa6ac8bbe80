"""Rules about repetitions: inputs, tuples, and sentences that are labelled differently in two places."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from measures.consistency.near import Read, chunks, groups, integers

from .claims import Claim, Cluster, Finding


def repeated_inputs(cluster: Cluster) -> Iterator[tuple[Claim, Claim]]:
    """Yield (a later input, the first one) with the same study and text."""
    seen: dict[tuple[str, str], Claim] = {}
    for claim in cluster.inputs:
        first = seen.setdefault((claim.study, claim.text), claim)
        if first is not claim:
            yield claim, first


def repeated_tuples(clusters: Iterable[Cluster]) -> Iterator[Finding]:
    """Find clusters of one review with equal tuples: their targets state the same relation, or one tuple is wrong."""
    clusters_by_tuple: dict[tuple[str, ...], list[Cluster]] = defaultdict(list)
    for cluster in clusters:
        if cluster.tuple_named:
            clusters_by_tuple[cluster.review, *cluster.tuple_named].append(cluster)
    for (review, *elements), same_tuple in clusters_by_tuple.items():
        if len(same_tuple) > 1:
            tuple_text = "; ".join(name for name in elements if name)
            reason = f"{len(same_tuple)} clusters of review {review} have the same tuple: {tuple_text}."
            yield Finding("repeated tuple", tuple(c.unit for c in same_tuple), reason, tuple(elements))


def differing_labels(clusters: Iterable[Cluster]) -> Iterator[Finding]:
    """Find sentences of one study with different labels in two clusters; one finding per sentence.

    If the tuple is the same or the modality differs, one label is wrong, because modality does not depend on the tuple.
    A different polarity with a different tuple may be a different claim and is reported as information.
    """
    claims_by_sentence: dict[tuple[str, str], list[tuple[Claim, Cluster]]] = defaultdict(list)
    for cluster in clusters:
        for claim in cluster.inputs:
            if claim.is_labelled:
                claims_by_sentence[claim.study, claim.text].append((claim, cluster))
    for same_sentence in claims_by_sentence.values():
        labels = {(claim.polarity, claim.modality) for claim, _ in same_sentence}
        if len(labels) > 1:
            yield _differing(same_sentence)


class RepeatedTuples:
    """`repeated_tuples` for clusters that do not fit into memory."""

    def __init__(self) -> None:
        self._numbers, self._keys = array("q"), array("q")

    def add(self, number: int, cluster: Cluster) -> None:
        if cluster.tuple_named:
            self._numbers.append(number)
            self._keys.append(hash((cluster.review, *cluster.tuple_named)))

    def find(self, read: Read) -> Iterator[Finding]:
        numbers = integers(self._numbers)
        for places in chunks(groups(integers(self._keys))):
            read_clusters = read(sorted(numbers[places].tolist()))
            yield from repeated_tuples(
                [replace(cluster, target=None, inputs=(), rewritings=()) for _, cluster in read_clusters]
            )


class DifferingLabels:
    """`differing_labels` for clusters that do not fit into memory."""

    def __init__(self) -> None:
        self._numbers, self._keys, self._labels = array("q"), array("q"), array("q")

    def add(self, number: int, cluster: Cluster) -> None:
        for claim in cluster.inputs:
            if claim.is_labelled:
                self._numbers.append(number)
                self._keys.append(hash((claim.study, claim.text)))
                self._labels.append(hash((claim.polarity, claim.modality)))

    def find(self, read: Read) -> Iterator[Finding]:
        numbers, keys, labels = integers(self._numbers), integers(self._keys), integers(self._labels)
        differing = (places for places in groups(keys) if len(set(labels[places].tolist())) > 1)
        for places in chunks(differing):
            wanted = set(keys[places].tolist())
            candidates = [
                replace(
                    cluster,
                    target=None,
                    rewritings=(),
                    inputs=[claim for claim in cluster.inputs if hash((claim.study, claim.text)) in wanted],
                )
                for _, cluster in read(sorted(set(numbers[places].tolist())))
            ]
            yield from differing_labels(candidates)


def _differing(same_sentence: list[tuple[Claim, Cluster]]) -> Finding:
    in_modality = len({claim.modality for claim, _ in same_sentence}) > 1
    of_tuple: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for claim, cluster in same_sentence:
        of_tuple[cluster.tuple_named].add(claim.polarity)
    same_tuple = any(len(polarities) > 1 for polarities in of_tuple.values())
    fields = ["polarity"] * (len({claim.polarity for claim, _ in same_sentence}) > 1) + ["modality"] * in_modality
    differ = f"{' and '.join(fields).capitalize()} differ{'s' if len(fields) == 1 else ''}"
    labels = "; ".join(dict.fromkeys(f"{claim.polarity}, {claim.modality}" for claim, _ in same_sentence))
    explanation = (
        "The tuple is the same"
        if same_tuple
        else "The modality does not depend on the tuple"
        if in_modality
        else "The tuples differ, so it may be a different claim"
    )
    return Finding(
        "differing labels",
        tuple(claim.unit for claim, _ in same_sentence),
        f"{differ}: {labels}. {explanation}.",
        tuple(f"{claim.polarity}/{claim.modality}" for claim, _ in same_sentence),
        weight=2.0 * same_tuple + in_modality,
        is_information=not (same_tuple or in_modality),
    )
