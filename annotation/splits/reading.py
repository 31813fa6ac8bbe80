"""Read the units of a split, with their components, strata and near-equal texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.problems import Refused
from measures.splits.allotting import rare_values, size_groups
from measures.splits.units import Ints, TextPair, Units, components
from projects.jobs.batches import Progress
from projects.models import Project

from .levels import LEVELS, counts
from .near import NearTexts
from .parameters import STRATA, SplitParameters
from .topics import topics_of


@dataclass
class Corpus:
    """The units of a project at one level. Lists have a value per unit, in corpus order."""

    level: str
    units: Units = field(default_factory=Units)
    ids: list[int] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    #: Titles by review, else the first text of its first unit.
    titles: dict[str, str] = field(default_factory=dict)
    near: Mapping[TextPair, float] | None = None
    #: Strata that were left out, with the reason.
    left_out: dict[str, str] = field(default_factory=dict)
    topics: str = ""

    @property
    def near_pairs(self) -> Sequence[TextPair]:
        return list(self.near or ())

    @property
    def components(self) -> Ints:
        return components(self.units, self.near_pairs)


def chosen_level(project: Project, level: str) -> str:
    """Return the level, or the finest one that the project has. Raise `Refused` if it has no units of it."""
    available = counts(project)
    if level in available:
        return level
    if not level and available:
        return next(iter(available))
    has = " and ".join(f"{n:,} {LEVELS[one].name}, level {one}" for one, n in available.items())
    missing = f"no {LEVELS[level].name}, level {level}" if level else "no units to split"
    raise Refused.field("level", f"This project has {missing}. It has {has or 'no corpus yet: import one'}.")


def read(project: Project, asked: SplitParameters, progress: Progress) -> Corpus:
    """Read the units of a level. Memory depends on the number of texts, not on their length."""
    level = LEVELS[chosen_level(project, asked.level)]
    sketches = None if asked.near is None else NearTexts()
    corpus = Corpus(level.level, Units(on_text=sketches.add if sketches else None))
    values: dict[str, list[str]] = {name: [] for name in level.strata}
    topics: dict[str, list[str]] = {"screening": [], "column": []}
    sizes: list[int] = []
    dropped, met = set(asked.drop), set()
    total = level.all(project).count()
    for done, row in enumerate(level.rows(project), 1):
        if done % level.batch == 0:
            progress(done, total, f"reading {level.name}")
        if row.review in dropped:
            met.add(row.review)
            continue
        corpus.units.add(row.item)
        corpus.ids.append(row.unit)
        corpus.reviews.append(row.review)
        corpus.given.append(row.given)
        corpus.titles.setdefault(row.review, row.title or next(iter(row.texts), ""))
        topics["screening"].append(row.topic)
        topics["column"].append(row.column_topic)
        sizes.append(row.size)
        for name in level.strata:
            values[name].append(row.strata.get(name, ""))
    if unknown := sorted(dropped - met):
        raise Refused.field("drop", f"No unit belongs to {', '.join(unknown[:20])}. Name reviews of the project.")
    if not corpus.ids:
        raise Refused.field("drop", "All units would leave.")
    if sketches and asked.near is not None:
        progress(total, total, "comparing texts")
        corpus.near = sketches.pairs(asked.near)
    values["topic"] = _topics(corpus, asked, topics, progress)
    values["size"] = size_groups(sizes)
    corpus.units.strata = {name: values[name] for name in STRATA if name in values}
    return corpus


def _topics(corpus: Corpus, asked: SplitParameters, found: Mapping[str, list[str]], progress: Progress) -> list[str]:
    source = asked.topics or next((name for name, values in found.items() if any(values)), "")
    corpus.topics = source
    if source != "titles":
        return found.get(source, [""] * len(corpus.ids))
    progress(0, None, "clustering titles")
    topics = topics_of(list(corpus.titles.values()), count=asked.topic_count, encoder=asked.encoder)
    by_review = dict(zip(corpus.titles, topics, strict=True))
    return [by_review[review] for review in corpus.reviews]


def choose_strata(corpus: Corpus, asked: SplitParameters, of_component: Ints, parts: int) -> None:
    """Keep the strata that are asked for; else those whose values can all be in every part.

    Raise `Refused` if a stratum that is asked for has no values, or has one that cannot be in every part.
    """
    strata: dict[str, Any] = corpus.units.strata
    for name in STRATA:
        values = strata.get(name)
        is_asked = asked.strata is not None and name in asked.strata
        if asked.strata is not None and not is_asked:
            strata.pop(name, None)
            continue
        reason = ""
        if values is None and not is_asked:
            continue
        if values is None or not any(values):
            reason = f"no unit has a {name}"
        elif not asked.allow_empty and (rare := rare_values(of_component, values, parts)):
            named = ", ".join(f'"{value}"' for value in rare[:5])
            reason = f"{named} {'is' if len(rare) == 1 else 'are'} in fewer components than parts"
        if not reason:
            continue
        if is_asked:
            raise Refused.field("strata", f"The stratum {name} is empty: {reason}. {_ways(name, values)}")
        corpus.left_out[name] = reason
        strata.pop(name, None)


def _ways(name: str, values: Sequence[str] | None) -> str:
    if values is None:
        return "Leave it out: units of this level never have one."
    if any(values):
        return "Leave the stratum out, use fewer parts, or allow parts without a value (--allow-empty)."
    if name == "topic":
        return "Leave it out, or take topics from a column or from titles (--topics)."
    return "Leave it out, or decide the values first."
