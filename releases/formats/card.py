"""The data set card and its citation: words for people, written from the same snapshot."""

import json
from collections.abc import Sequence

from projects.models import Project

from ..folders.dictionary import Table, table_of
from .notes import Notes

CREATIVE_COMMONS = "https://creativecommons.org"
#: Licences that data sets use, by their SPDX id.
SPDX = {
    "CC0-1.0": f"{CREATIVE_COMMONS}/publicdomain/zero/1.0/legalcode",
    "CC-BY-4.0": f"{CREATIVE_COMMONS}/licenses/by/4.0/legalcode",
    "CC-BY-SA-4.0": f"{CREATIVE_COMMONS}/licenses/by-sa/4.0/legalcode",
    "CC-BY-NC-4.0": f"{CREATIVE_COMMONS}/licenses/by-nc/4.0/legalcode",
    "CC-BY-NC-SA-4.0": f"{CREATIVE_COMMONS}/licenses/by-nc-sa/4.0/legalcode",
    "CC-BY-ND-4.0": f"{CREATIVE_COMMONS}/licenses/by-nd/4.0/legalcode",
    "CC-BY-NC-ND-4.0": f"{CREATIVE_COMMONS}/licenses/by-nc-nd/4.0/legalcode",
    "ODC-By-1.0": "https://opendatacommons.org/licenses/by/1-0/",
    "ODbL-1.0": "https://opendatacommons.org/licenses/odbl/1-0/",
    "PDDL-1.0": "https://opendatacommons.org/licenses/pddl/1-0/",
    "Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "MIT": "https://opensource.org/license/mit",
}


def card(project: Project, version: str, newest: str, notes: Notes, paths: Sequence[str] = ()) -> str:
    """README.md of a release: what it is, what it holds (``paths``: its files), how it was made, how to check it."""
    levels = "\n".join(
        f"| {r['level']} | {r['targets']} | {r['inputs']} | {r['reviews']} | {r['studies']} | "
        f"{_figure(r['inputs_per_target'])} | {_figure(r['compression'])} |"
        for r in (level.as_json() for level in notes.levels)
    )
    rounds = "\n".join(
        f"| {r.name} | {r.kind} | {r.purpose} | {r.status} | {r.units_count} | {r.overlap} | {r.guideline.number} |"
        for r in project.rounds.opened().counting().select_related("guideline").order_by("pk")
    )
    illustrative = "\n> **Illustrative.** This data set is made up to show Concord; it is no evidence of anything.\n"
    return f"""# {project.name} {version}
{illustrative if project.illustrative else ""}
{project.description or "No description was given."}

{f"Cite as: {project.citation}" if project.citation else ""}

Licence: {project.licence or "not stated"}. Newest change in it: {newest or "none"}.

## What it holds

| level | targets | inputs | reviews | studies | inputs per target | compression |
|---|---|---|---|---|---|---|
{levels or "| none | 0 | 0 | 0 | 0 | | |"}

Compression is the mean over targets of the words of its inputs over the words of the target. `statistics.json` has
the counts of values, each with its n and method. `m3/` has the levels in M3's published format; {_left_out(notes)}
`answers/` has every answer of every round, one row a revision (`current` and `counted` tell which stand), with raters
under pseudonyms. {_comments(project, notes)}{_kept_blind(notes)}
`provenance/` names, for every current value, the answer and the guideline version or the imported file that it comes
from; it has the guidelines word for word, and says who typed in what no file brought.

Cells of the CSV files hold texts exactly as they are, a leading `=`, `+`, `-` or `@` included: they are data
for scripts. In a spreadsheet import them as text.

## How it was made

| round | kind | purpose | status | units | people a unit | guideline |
|---|---|---|---|---|---|---|
{rounds or "| none | | | | | | |"}

Polarity is benefit or harm of the intervention for the outcome; M3's files call the field *direction*. It is `n/a`
exactly where the modality is `no evidence`. Cues keep their published text; cues marked by people are given as the text
that covers them, with exact ranges in `answers/`.

## Files

{_files(paths)}

## Checking it

    sha256sum -c SHA256SUMS

checks every file but `manifest.json`, without Concord. It shows that the files fit each other. Only a number from
elsewhere shows that they are the published ones, since whoever alters files can alter the sums with them: compare the
`digest` at the end of `manifest.json` with the one that was published (on the page of this release, in a paper, beside
the download). With a copy of Concord, without an installation or settings,

    python manage.py verify_release DIR --digest DIGEST

does both and more: it takes the digest anew, and finds files that were added.

## Computing its figures again

    python -m measures.again DIR

computes every figure of agreement, and of systems where there are any, from the files here, and holds it against the
one that is printed in them. It needs a copy of Concord, Python and NumPy, and no installation; for BLEU and chrF of all
summaries together sacrebleu as well. A run whose texts somebody is still to rate, without knowing whose they are, is in
none of the files.
"""


def _files(paths: Sequence[str]) -> str:
    """What each file of rows is, and what its columns say."""
    return "\n\n".join(_described(path, table) for path in sorted(paths) if (table := table_of(path)))


def _described(path: str, table: Table) -> str:
    names = ", ".join(f"`{name}`" for name in table.key)
    lines = [f"`{path}`: a row is {table.row}; named by {names}.", ""]
    lines += [f"* `{name}`: {said}" for name, said in table.columns.items()]
    if table.others:
        lines.append(f"* {'any other' if table.columns else 'each'}: {table.others}")
    return "\n".join(lines)


def _comments(project: Project, notes: Notes) -> str:
    if project.publish_comments:
        return "Annotators' comments are in it, in the column `comment`."
    return f"Annotators' comments are left out ({notes.counts.get('comments_left_out', 0)})."


def _kept_blind(notes: Notes) -> str:
    rounds = notes.counts.get("rounds_kept_blind", [])
    if not rounds:
        return ""
    names = ", ".join(rounds)
    return f" Of rounds that are judged blindly nothing is in it before they are closed and unblinded: {names}."


def _left_out(notes: Notes) -> str:
    n = len(notes.counts.get("clusters_without_complete_gold", []))
    bare = len(notes.counts.get("targets_without_inputs", []))
    targets = f" Left out for want of inputs: {bare} target{'s' * (bare > 1)} (named there too)." if bare else ""
    if not n:
        return f"no cluster is left out.{targets}"
    return f"left out for want of complete gold: {n} cluster{'s' * (n > 1)} (named in `manifest.json`).{targets}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def citation(project: Project, version: str, newest: str) -> str:
    """CITATION.cff (Citation File Format 1.2.0). The project's own words on how to cite it go into the notes of the
    preferred citation; the licence only where it is an SPDX id, which is all that the format allows."""
    makers = ["authors:", f"  - name: {_quoted(f'The makers of {project.name}')}"]
    lines = [
        "cff-version: 1.2.0",
        'message: "If you use this data set, please cite it, with its version and the digest in manifest.json. '
        'README.md says how to verify a copy."',
        "type: dataset",
        f"title: {_quoted(project.name)}",
        f"version: {_quoted(version)}",
    ]
    if newest:
        lines.append(f"date-released: {_quoted(newest[:10])}")
    if project.description:
        lines.append(f"abstract: {_quoted(project.description)}")
    if project.licence in SPDX:
        lines.append(f"license: {_quoted(project.licence)}")
    lines += makers
    if project.citation:
        lines += ["preferred-citation:", "  type: generic", f"  title: {_quoted(project.name)}"]
        lines += [f"  {line}" for line in makers]
        lines.append(f"  notes: {_quoted(project.citation)}")
    return "\n".join(lines) + "\n"


def licence(project: Project) -> str:
    """LICENSE: the licence that the project states, with its address where it is a well-known one."""
    if not project.licence:
        return "No licence is stated. Ask the makers of this data set before you use it.\n"
    if address := SPDX.get(project.licence):
        return f"SPDX-License-Identifier: {project.licence}\n\nThe text of the licence: {address}\n"
    return f"{project.licence}\n"


def _quoted(value: str) -> str:
    """A YAML string: JSON's form, with the line ends escaped that only YAML knows."""
    text = json.dumps(value, ensure_ascii=False)
    for character in "\x7f\x85\u2028\u2029\ufeff":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
