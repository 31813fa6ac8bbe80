"""Rules about what occurs twice: an input, a tuple, a sentence that was labelled differently in two places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from .claims import Claim, Cluster, Finding


def repeated_inputs(cluster: Cluster) -> Iterator[tuple[Claim, Claim]]:
    """(a later input, the first one) of the same study with the same text."""
    seen: dict[tuple[str, str], Claim] = {}
    for claim in cluster.inputs:
        first = seen.setdefault((claim.study, claim.text), claim)
        if first is not claim:
            yield claim, first


def repeated_tuples(clusters: Iterable[Cluster]) -> Iterator[Finding]:
    """Clusters of one review whose tuples name the same: their targets say the same of the same, or one is mistaken."""
    found: dict[tuple[str, ...], list[Cluster]] = defaultdict(list)
    for cluster in clusters:
        if cluster.tuple_named:
            found[cluster.review, *cluster.tuple_named].append(cluster)
    for (review, *named), alike in found.items():
        if len(alike) > 1:
            tuple_said = "; ".join(name for name in named if name)
            reason = f"{len(alike)} clusters of review {review} have the same tuple: {tuple_said}."
            yield Finding("repeated tuple", tuple(c.unit for c in alike), reason, tuple(named))


def differing_labels(clusters: Iterable[Cluster]) -> Iterator[Finding]:
    """One sentence of one study that was labelled differently in two clusters: one finding a sentence.

    Where the tuple is the same, or the modality differs (which no tuple decides), somebody was mistaken; another
    polarity of another tuple may well be another claim, and is information.
    """
    found: dict[tuple[str, str], list[tuple[Claim, Cluster]]] = defaultdict(list)
    for cluster in clusters:
        for claim in cluster.inputs:
            if claim.is_labelled:
                found[claim.study, claim.text].append((claim, cluster))
    for alike in found.values():
        said = {(claim.polarity, claim.modality) for claim, _ in alike}
        if len(said) > 1:
            yield _differing(alike)


def _differing(alike: list[tuple[Claim, Cluster]]) -> Finding:
    in_modality = len({claim.modality for claim, _ in alike}) > 1
    of_tuple: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for claim, cluster in alike:
        of_tuple[cluster.tuple_named].add(claim.polarity)
    same_tuple = any(len(polarities) > 1 for polarities in of_tuple.values())
    fields = ["polarity"] * (len({claim.polarity for claim, _ in alike}) > 1) + ["modality"] * in_modality
    differ = f"{' and '.join(fields).capitalize()} differ{'s' if len(fields) == 1 else ''}"
    labels = "; ".join(f"{claim.unit} {claim.polarity}, {claim.modality}" for claim, _ in alike)
    why = (
        "The tuple is the same" if same_tuple
        else "The modality does not depend on the tuple" if in_modality
        else "The tuples differ, so it may be a different claim"
    )  # fmt: skip
    return Finding(
        "differing labels", tuple(claim.unit for claim, _ in alike),
        f"{differ}: {labels}. {why}.",
        tuple(f"{claim.polarity}/{claim.modality}" for claim, _ in alike),
        weight=2.0 * same_tuple + in_modality, is_information=not (same_tuple or in_modality),
    )  # fmt: skip
