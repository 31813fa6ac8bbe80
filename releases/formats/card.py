"""Data card and licence file of a release, written from the same snapshot."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from measures import spdx
from projects.material import registry
from projects.models import Project

from ..folders.dictionary import Table, table_of
from ..folders.dictionary.table import TEXT, Type, type_name
from .notes import Notes


def card(
    project: Project, version: str, newest: str, notes: Notes, paths: Sequence[str] = (), loading: str = ""
) -> str:
    """Return README.md: description, contents (``paths`` are the files), creation and verification of the release.

    ``loading`` is the section on loading the files.
    """
    by_level = {row["level"]: row for row in (level.as_json() for level in notes.levels)}
    levels = "\n".join(
        f"| {r['level']} | {r['targets']} | {r['inputs']} | {r['reviews']} | {r['studies']} | "
        f"{_figure(r['inputs_per_target'])} | {_figure(r['compression'])} |"
        for r in by_level.values()
    )
    material = "\n\n".join(note for kind in registry.every() if (note := kind.release_note(by_level, paths)))
    left_out = _left_out(notes, has_clusters="proposition" in by_level)
    rounds = "\n".join(
        f"| {r.name} | {r.kind} | {r.purpose} | {r.status} | {r.units_count} | {r.overlap} | {r.guideline.number} |"
        for r in project.rounds.opened().counting().select_related("guideline").order_by("pk")
    )
    illustrative = (
        "\n> **Illustrative.** This data set is fictitious and demonstrates Concord. It is not evidence of anything.\n"
    )
    return f"""# {project.name} {version}
{illustrative if project.illustrative else ""}
{project.description or "No description."}

{f"Cite as: {project.citation}" if project.citation else ""}

Licence: {project.licence or "not stated"}. Newest change: {newest or "none"}.

## Contents

| level | targets | inputs | reviews | studies | inputs per target | compression |
|---|---|---|---|---|---|---|
{levels or "| none | 0 | 0 | 0 | 0 | | |"}

{material}

Compression is the mean over targets of the number of words of the inputs divided by the number of words of the target.
`statistics.json` has the distributions of values, each with its n and method. `m3/` has the levels in M3's published
format; {left_out} `answers/` has all answers, one row per revision (`current` and `counted` mark the rows that
count), with pseudonyms of raters. {_comments(project, notes)}{_kept_blind(notes)}{_overlapping(notes)}
`provenance/` states for every current value its answer and guideline version, or its imported file. It also has all
guidelines, and the units that were entered by hand.{_splits(paths)}{_without_texts(notes)}

Cells of the CSV files contain texts unchanged, including a leading `=`, `+`, `-` or `@`, because they are data for
scripts. Import them into a spreadsheet as text.

{loading}
## How it was made

| round | kind | purpose | status | units | people per unit | guideline |
|---|---|---|---|---|---|---|
{rounds or "| none | | | | | | |"}

## Files

{_files(paths)}

## Verification

    sha256sum -c SHA256SUMS

checks every file except `manifest.json`, without Concord. It shows that the files match each other, but not that they
are the published ones: files can be altered together with their sums. Therefore compare the `digest` at the end of
`manifest.json` with the published one (on the page of this release, in a paper, or beside the download). With a copy
of Concord, without an installation or settings,

    python manage.py verify_release DIR --digest DIGEST

does both: it recomputes the digest, and also finds added files.

## Recomputation

    python -m measures.recompute DIR

computes all figures of agreement and of systems from these files, and compares them with the released figures. It needs
a copy of Concord, Python and NumPy, but no installation; corpus-level BLEU and chrF also need sacrebleu. Runs whose
texts are still to be rated blindly are omitted from all files.
"""


def _files(paths: Sequence[str]) -> str:
    """Describe the rows and columns of each file of rows."""
    return "\n\n".join(_described(path, table) for path in sorted(paths) if (table := table_of(path)))


def _described(path: str, table: Table) -> str:
    names = ", ".join(f"`{name}`" for name in table.key)
    lines = [f"`{path}`: one row per {table.row}; key: {names}.", ""]
    lines += [f"* `{name}`{_type(table.type_of(name))}: {meaning}" for name, meaning in table.columns.items()]
    if table.others:
        lines.append(f"* any other{_type(table.others_type)}: {table.others}")
    return "\n".join(lines)


def _type(type: Type) -> str:
    return "" if type == TEXT else f" ({type_name(type)})"


def _comments(project: Project, notes: Notes) -> str:
    if project.publish_comments:
        return "Annotators' comments are in the column `comment`."
    return f"Annotators' comments are omitted ({notes.counts.get('comments_left_out', 0)})."


def _without_texts(notes: Notes) -> str:
    if notes.has_texts:
        return ""
    return (
        "\n\n**Without texts.** Texts of the sources, quotes, comments and reasons are replaced by the SHA-256 of "
        "their UTF-8 (`sha256:` and 64 hex digits); keys, offsets and labels stay. With the sources, `manage.py "
        "import_data release DIR --source PATH --project SLUG --create` restores M3's levels."
    )


def _splits(paths: Sequence[str]) -> str:
    names = [path.removeprefix("splits/").removesuffix(".csv") for path in paths if fnmatchcase(path, "splits/*.csv")]
    if not names:
        return ""
    return (
        f" `splits/` has the part of each unit (splits: {', '.join(sorted(names))}) and, as JSON, what each pair of "
        "parts shares: PubMed ids, equal texts and, if they were searched, near-equal texts."
    )


def _kept_blind(notes: Notes) -> str:
    rounds = notes.counts.get("rounds_kept_blind", [])
    if not rounds:
        return ""
    names = ", ".join(rounds)
    return f" Blind rounds are omitted until they are closed and unblinded: {names}."


def _overlapping(notes: Notes) -> str:
    texts = notes.counts.get("texts_with_overlapping_spans_of_one_element", [])
    if not texts:
        return ""
    return (
        " The tags of `ms2/` cannot express overlapping spans of one element, so some spans of these texts are only in "
        f"`answers/`: {', '.join(texts)}."
    )


def _left_out(notes: Notes, *, has_clusters: bool) -> str:
    n = len(notes.counts.get("clusters_without_complete_gold", []))
    bare = len(notes.counts.get("targets_without_inputs", []))
    targets = (
        f" Omitted because they have no inputs: {bare} target{'s' * (bare > 1)} (also listed there)." if bare else ""
    )
    if not n and bare and not has_clusters:
        return f"omitted because they have no inputs: {bare} target{'s' * (bare > 1)} (listed in `manifest.json`)."
    if not n:
        return f"no {'cluster' if has_clusters else 'target'} is omitted.{targets}"
    return f"omitted because their gold is incomplete: {n} cluster{'s' * (n > 1)} (listed in `manifest.json`).{targets}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def licence(project: Project) -> str:
    """Return LICENSE: the licence of the project, with its web address if it has an SPDX id."""
    if not project.licence:
        return "No licence is stated. Ask the authors of this data set for permission before you use it.\n"
    if spdx_id := spdx.spdx_id(project.licence):
        return f"SPDX-License-Identifier: {spdx_id}\n\nText of the licence: {spdx.address(spdx_id)}\n"
    return f"{project.licence}\n"
