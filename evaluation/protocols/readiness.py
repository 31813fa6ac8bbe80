"""What keeps a round from opening by a protocol that can be stored: what is not worded yet, or not shown."""

from collections.abc import Iterator

from measures.ratings import m3

from .parts import SLOTS, Content, Criterion
from .takes import Fault

#: The fewest options of a scale, and what they are called.
FEWEST = {
    "likert": (2, "points"), "categorical": (2, "categories"), "multi-label": (1, "label"), "spans": (1, "category"),
}  # fmt: skip
#: Scales whose options a rater tells apart by what their anchors say.
ANCHORED = ("likert", "categorical")
#: Which of the target's parts each setting shows.
SHOWN = {"none": (), "text": ("text",), "tuple": SLOTS, "gold": ("text", *SLOTS, "polarity", "modality")}


def gaps(content: Content) -> Iterator[Fault]:
    """Each in a sentence, with the path of the field that would fill it."""
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
    # In a group the question is the group's.
    if not criterion.question.strip() and not criterion.group:
        yield Fault(f"{path}.question", f"{name} has no question.")
    scale = criterion.scale
    least, called = FEWEST.get(scale.type, (0, ""))
    if len(scale.options) < least:
        yield Fault(f"{path}.scale.options", f"{name} has fewer than {least} {called}.")
    for many, options in (("options", scale.options), ("severities", scale.severities)):
        for j, option in enumerate(options):
            where, what = f"{path}.scale.{many}.{j}", f"{name}, {option.label.strip() or option.value}"
            if not option.label.strip():
                yield Fault(f"{where}.label", f"{what}: no label.")
            if scale.type in ANCHORED and not option.anchor.strip():
                yield Fault(f"{where}.anchor", f"{what}: no anchor.")


def _shown(content: Content, criterion: Criterion, name: str, path: str) -> Iterator[Fault]:
    show = content.show
    seen = {"source": show.source, "query": show.query, "target": show.target != "none"}
    if not seen.get(criterion.frame, True):
        yield Fault(f"{path}.frame", f"{name} is judged against the {criterion.frame}, which is not shown.")
    if criterion.beside and criterion.beside not in SHOWN[show.target]:
        part = "text" if criterion.beside == "text" else criterion.beside
        yield Fault(f"{path}.beside", f"{name}: the target's {part} is to stand beside it, but is not shown.")


def _exemplified(criterion: Criterion, name: str, path: str) -> Iterator[Fault]:
    for j, example in enumerate(criterion.examples):
        for field in ("summary", "explanation"):
            if not getattr(example, field).strip():
                yield Fault(f"{path}.examples.{j}.{field}", f"{name}, example {j + 1}: no {field}.")


def _derived(content: Content) -> Iterator[Fault]:
    """What is derived of labels needs an option for each of the target's; other options may stand beside these."""
    if content.derives != m3.DERIVES:
        return
    labels = {criterion.key: criterion for criterion in content.criteria}
    for key, scale in m3.GOLD_SCALES.items():
        values = [value for value in scale if value != m3.NOT_APPLICABLE]
        if key not in labels or not set(values) <= set(labels[key].meant(content.derives).values()):
            yield Fault("derives", f"Matches are derived from a criterion {key} with: {', '.join(values)}.")
