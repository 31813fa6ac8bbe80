"""What a file of M3 brings beside the corpus itself: labels, relations and the decisions that they are in force."""

from collections.abc import Sequence

from annotation.models import (
    Cluster,
    Cue,
    CueFragment,
    DiscourseLabel,
    Label,
    Level,
    Proposition,
    Target,
)
from annotation.values.in_force import LABEL_FIELDS
from measures import spans
from projects.actions.decisions import with_digests
from projects.background.progress import Progress
from projects.models import Decision, Import, Origin
from sql.ready import Rows

from ...corpus.items import Item, Said
from ...corpus.layout import Layout, next_position

#: How many items become rows at a time.
BATCH = 100
LEVELS = {"1": Level.DOCUMENT, "2": Level.SENTENCE}


def add_targets(imported: Import, level: str, items: Sequence[Item], rows: Rows, progress: Progress) -> None:
    """Levels 1 and 2: targets and their inputs."""
    layout = Layout(imported.project, rows, imported=imported)
    first = next_position(Target.objects.filter(project=imported.project, level=LEVELS[level]))
    for start in range(0, len(items), BATCH):
        layout.targets(LEVELS[level], items[start : start + BATCH], first + start)
        progress(start, len(items), "making rows")


def add_clusters(imported: Import, items: Sequence[Item], rows: Rows, progress: Progress) -> None:
    """Level 3: clusters with their tuples, propositions, labels, cues, relations and imported decisions."""
    layout = Layout(imported.project, rows, imported=imported)
    first = next_position(Cluster.objects.filter(project=imported.project))
    for start in range(0, len(items), BATCH):
        batch = items[start : start + BATCH]
        clusters, propositions = layout.clusters(batch, first + start)
        _add_labels(rows, imported, [(p, said) for p, said in propositions if said])
        rows.add(
            DiscourseLabel(unit_id=cluster.unit_id, imported=imported, relation=item.relation)
            for item, cluster in zip(batch, clusters, strict=True)
        )
        decisions = [
            *(_adopt(imported, p.unit_id, "label", field) for p, _ in propositions for field in LABEL_FIELDS),
            *(_adopt(imported, cluster.unit_id, "discourse", "relation") for cluster in clusters),
        ]
        rows.add(with_digests(decisions))
        progress(start, len(items), "making rows")


def _add_labels(rows: Rows, imported: Import, propositions: Sequence[tuple[Proposition, Said]]) -> None:
    labels = rows.add(
        Label(unit_id=p.unit_id, imported_id=imported.pk, polarity=said.polarity, modality=said.modality)
        for p, said in propositions
    )
    cues, places = [], []
    for label, (proposition, said) in zip(labels, propositions, strict=True):
        for aspect, text in ((Cue.Aspect.POLARITY, said.polarity_cue), (Cue.Aspect.MODALITY, said.modality_cue)):
            if text:
                found = spans.locate(proposition.text, text)
                cues.append(
                    Cue(label=label, aspect=aspect, text=text, found=found.status, occurrences=found.occurrences)
                )
                places.append([(start, end, proposition.text[start:end]) for start, end in found.ranges])
    rows.add(cues)
    rows.add(
        CueFragment(cue=cue, position=n, start=start, end=end, quote=quote)
        for cue, pieces in zip(cues, places, strict=True)
        for n, (start, end, quote) in enumerate(pieces)
    )


def _adopt(imported: Import, unit: int, kind: str, field: str) -> Decision:
    """What an import says is in force. "No cue" is a value too, so each field gets its decision."""
    return Decision(
        unit_id=unit,
        kind=kind,
        field=field,
        origin=Origin.IMPORTED,
        imported_id=imported.pk,
        decided_at=imported.created_at,
    )
