"""Head and section *Load* of README.md, which make the folder a repository of the Hugging Face hub."""

import json
from collections.abc import Iterator, Sequence

from measures.spdx import ADDRESSES

from ..citation.facts import Facts
from .configs import Config, default_of

#: Ids of the hub that are not the SPDX id in small letters.
HUB_LICENCES = {"ODC-By-1.0": "odc-by", "ODbL-1.0": "odbl", "PDDL-1.0": "pddl"}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "1M<n<10M"
#: Tags of every data set; its keywords follow.
TAGS = ("biomedical", "systematic-reviews", "evidence-synthesis")
#: Language of the texts if the lead does not state it: that of PubMed.
ENGLISH = "en"


def front_matter(facts: Facts, configs: Sequence[Config]) -> str:
    """Return the YAML head of the data set card.

    The size is that of the default configuration. Strings are JSON, which is YAML.
    """
    default = default_of(configs)
    tags = dict.fromkeys([*TAGS, *facts.keywords])
    lines = ["---", f"pretty_name: {_quoted(facts.title)}", *_licence(facts)]
    lines += ["language:", f"- {_quoted(language(facts).partition('-')[0])}"]
    lines += ["task_categories:", "- summarization", "tags:", *(f"- {_quoted(tag)}" for tag in tags)]
    if default:
        rows = sum(entry.rows or 0 for entry in default.splits.values())
        size = next((name for most, name in SIZES if rows < most), LARGEST)
        lines += ["size_categories:", f"- {_quoted(size)}", "configs:"]
        for config in configs:
            lines += _config(config, is_default=config is default)
    else:
        # Without configurations, the hub would guess them from files that have different columns.
        lines.append("viewer: false")
    return "\n".join([*lines, "---", "", ""])


def _config(config: Config, *, is_default: bool) -> Iterator[str]:
    yield f"- config_name: {config.name}"
    if is_default:
        yield "  default: true"
    yield "  data_files:"
    for split, entry in config.in_order:
        yield f"  - split: {split}"
        yield f"    path: {entry.path}"


def language(facts: Facts) -> str:
    """Return the language of the texts, as a BCP 47 tag."""
    return facts.language or ENGLISH


def _licence(facts: Facts) -> Iterator[str]:
    if not facts.licence:
        yield "license: unknown"
    elif facts.spdx_id in ADDRESSES:
        yield f"license: {HUB_LICENCES.get(facts.spdx_id, facts.spdx_id.lower())}"
    else:
        yield "license: other"
        yield f"license_name: {_quoted(facts.licence)}"
        yield "license_link: LICENSE"


def _quoted(text: str) -> str:
    """Return a YAML string on one line, whatever the text has."""
    return json.dumps(text)


def load_section(configs: Sequence[Config]) -> str:
    """Return the section of README.md that says how to load the release and what its configurations have."""
    default = default_of(configs)
    if not default:
        return ""
    listed = "\n".join(
        f"* `{config.name}`: {', '.join(f'`{source}`' for source in config.sources)}; "
        + ", ".join(
            f"{split} ({entry.rows} {'row' if entry.rows == 1 else 'rows'})" for split, entry in config.in_order
        )
        for config in configs
    )
    return f"""## Load

    from datasets import load_dataset

    load_dataset("DIR", "{default.name}")

needs no network and no copy of Concord (`pip install datasets`). DIR is the folder of this file. Each configuration has
the rows of one file below, with the same names and values:

{listed}

Columns of type JSON contain text: read them with `json.loads`. Empty cells of other types than text are missing values.
`croissant.json` describes the same files for Croissant 1.1.
"""
