"""Find what must be completed before a round can be opened with a valid protocol."""

from collections.abc import Iterator

from measures.ratings import m3

from .parts import SLOTS, Content, Criterion
from .rules import Fault

#: Minimum number of options by scale, and their name.
FEWEST = {
    "likert": (2, "points"),
    "categorical": (2, "categories"),
    "multi-label": (1, "label"),
    "spans": (1, "category"),
}
#: Scales whose options need anchors, so that raters can distinguish them.
ANCHORED = ("likert", "categorical")
#: Parts of the target that each setting shows.
SHOWN = {"none": (), "text": ("text",), "tuple": SLOTS, "gold": ("text", *SLOTS, "polarity", "modality")}


def gaps(content: Content) -> Iterator[Fault]:
    """Yield each gap with a message and the path of the field to complete."""
    if not content.title.strip():
        yield Fault("title", "The protocol has no title.")
    if not content.criteria:
        yield Fault("criteria", "The protocol has no criterion.")
    for i, group in enumerate(content.groups):
        name = group.name.strip() or f"Group {i + 1}"
        if not group.name.strip():
            yield Fault(f"groups.{i}.name", f"{name} has no name.")
        if not any(criterion.group == group.key for criterion in content.criteria):
            yield Fault(f"groups.{i}", f"{name} has no criterion.")
    for i, criterion in enumerate(content.criteria):
        name = criterion.name.strip() or f"Criterion {i + 1}"
        path = f"criteria.{i}"
        yield from _worded(criterion, name, path)
        yield from _shown(content, criterion, name, path)
        yield from _exemplified(criterion, name, path)
    yield from _derived(content)


def _worded(criterion: Criterion, name: str, path: str) -> Iterator[Fault]:
    if not criterion.name.strip():
        yield Fault(f"{path}.name", f"{name} has no name.")
    # In a group, the group has the question.
    if not criterion.question.strip() and not criterion.group:
        yield Fault(f"{path}.question", f"{name} has no question.")
    scale = criterion.scale
    minimum, noun = FEWEST.get(scale.type, (0, ""))
    if len(scale.options) < minimum:
        yield Fault(f"{path}.scale.options", f"{name} has fewer than {minimum} {noun}.")
    for field, options in (("options", scale.options), ("severities", scale.severities)):
        for j, option in enumerate(options):
            where, what = f"{path}.scale.{field}.{j}", f"{name}, {option.label.strip() or option.value}"
            if not option.label.strip():
                yield Fault(f"{where}.label", f"{what}: no label.")
            if scale.type in ANCHORED and not option.anchor.strip():
                yield Fault(f"{where}.anchor", f"{what}: no anchor.")


def _shown(content: Content, criterion: Criterion, name: str, path: str) -> Iterator[Fault]:
    show = content.show
    is_shown = {"source": show.source, "query": show.query, "target": show.target != "none"}
    if not is_shown.get(criterion.frame, True):
        yield Fault(f"{path}.frame", f"{name} is judged against the {criterion.frame}, which is not shown.")
    if criterion.beside and criterion.beside not in SHOWN[show.target]:
        part = "text" if criterion.beside == "text" else criterion.beside
        yield Fault(
            f"{path}.beside",
            f"{name} shows the target's {part} beside the question, but the protocol does not show it.",
        )


def _exemplified(criterion: Criterion, name: str, path: str) -> Iterator[Fault]:
    for j, example in enumerate(criterion.examples):
        for field in ("summary", "explanation"):
            if not getattr(example, field).strip():
                yield Fault(f"{path}.examples.{j}.{field}", f"{name}, example {j + 1}: no {field}.")


def _derived(content: Content) -> Iterator[Fault]:
    """Check that the options cover each of the target's labels. Derived results need this; more options are allowed."""
    if content.derives != m3.DERIVES:
        return
    labels = {criterion.key: criterion for criterion in content.criteria}
    for key, scale in m3.GOLD_SCALES.items():
        values = [value for value in scale if value != m3.NOT_APPLICABLE]
        if key not in labels or not set(values) <= set(labels[key].meant(content.derives).values()):
            yield Fault("derives", f"Derived matches need a criterion {key} with the options: {', '.join(values)}.")
