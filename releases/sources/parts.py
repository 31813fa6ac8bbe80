"""Parts of the released split of a project: which unit is for training, development or testing."""

from collections.abc import Iterator, Mapping

from annotation.splits.queries import default_split, parts_of, parts_of_reviews
from projects.models import Project


def parts_of_units(project: Project) -> Mapping[str, str]:
    """Return the part (such as train, dev or test) of each unit in the project's split, by its key.

    If it has several splits, `default_split` says which one.

    A review whose units are all in one part is a key, too. Units that the split leaves out are no keys. The mapping is
    empty if the project has no split. Needs a fixed number of queries.
    """
    split = default_split(project)
    return {} if split is None else parts_of_reviews(split) | parts_of(split)


def possible_keys(key: str) -> Iterator[str]:
    """Yield the keys that a unit can have in a split: its own, those of its cluster or target, and its review's."""
    yield key
    target = key.partition(" ")[0].partition("~")[0].partition("/")[0]
    yield target
    yield target.rpartition("_")[0]
