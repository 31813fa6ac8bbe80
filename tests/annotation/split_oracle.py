"""An independent check of a split of M3's level 3: it reads the published lines and shares no code with Concord."""

from collections.abc import Iterable, Mapping
from typing import Any

Record = dict[str, Any]


def values_of(record: Record) -> set[str]:
    """Return the PubMed ids and the texts of a line."""
    studies = record["input_studies"]
    pmids = {record["docid"].rpartition("_")[0], *(study["source_pmid"] for study in studies)}
    return pmids | {record["target_text"], *(study["source_text"] for study in studies)}


def shared(records: Iterable[Record], parts: Mapping[str, str]) -> set[str]:
    """Return the ids and texts that are in two parts."""
    first: dict[str, str] = {}
    return {
        value
        for record in records
        for value in values_of(record)
        if first.setdefault(value, parts[record["docid"]]) != parts[record["docid"]]
    }


def component_sizes(records: list[Record]) -> list[int]:
    """Return the sizes of the components, largest first, by merging sets until none overlap."""
    groups: list[tuple[set[str], int]] = []
    for record in records:
        values, size = values_of(record), 1
        apart = []
        for others, count in groups:
            if others & values:
                values, size = values | others, size + count
            else:
                apart.append((others, count))
        groups = [*apart, (values, size)]
    return sorted((size for _, size in groups), reverse=True)
