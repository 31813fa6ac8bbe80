"""``datasheet.md``: the questions of Datasheets for Datasets, answered from rows and from the settings of the lead."""

from collections.abc import Sequence

from annotation.imports.licences import redistribution_of
from projects.models import Import, ImportState, Member, Project

from ..citation.edition import Edition
from ..citation.facts import Facts
from ..citation.questions import DATASHEET, answer
from .notes import Notes

#: Maximum number of sources that are named; `provenance/sources.csv` has all.
NAMED = 20


def datasheet(project: Project, facts: Facts, edition: Edition, notes: Notes, paths: Sequence[str]) -> str:
    """Return the file. ``paths``: the files of the release."""
    known = {f"datasheet.{key}": text for key, text in _from_rows(project, facts, edition, notes, paths).items()}
    lines = [f"# Datasheet of {facts.title} {edition.version}", ""]
    lines += ["The questions are those of Gebru et al., Datasheets for Datasets, in short form.", ""]
    section = ""
    for question in DATASHEET:
        if question.section != section:
            section = question.section
            lines += [f"## {section}", ""]
        lines += [f"**{question.text}**", "", answer(question, known.get(question.id, ""), facts.answers), ""]
    return "\n".join(lines)


def _from_rows(project: Project, facts: Facts, edition: Edition, notes: Notes, paths: Sequence[str]) -> dict[str, str]:
    """Return the answers that follow from the data, by question."""
    levels = {row["level"]: row for row in (level.as_json() for level in notes.levels)}
    counts = [
        f"{row['targets']} targets of level {level} with {row['inputs']} inputs, from {row['reviews']} reviews and "
        f"{row['studies']} studies"
        for level, row in levels.items()
    ]
    missing = len(notes.counts.get("clusters_without_complete_gold", []))
    raters = Member.objects.filter(project=project, answers__isnull=False).distinct().count()
    rounds = project.rounds.opened().counting()
    first = rounds.order_by("opened_at").values_list("opened_at", flat=True).first()
    texts = "Texts are released exactly as imported." if notes.has_texts else "Texts are left out."
    splits = [path for path in paths if path.startswith("splits/") and path.endswith(".csv")]
    time = f"The first round was opened on {first:%Y-%m-%d}; the newest change is of {edition.date}." if first else ""
    return {
        "purpose": facts.description,
        "creators": "; ".join(
            f"{creator.name} ({creator.affiliation})" if creator.affiliation else creator.name
            for creator in facts.creators
        ),
        "funding": "; ".join(" ".join(filter(None, (f.name, f.award_number, f.award_title))) for f in facts.funders),
        "count": f"{'; '.join(counts)}. `statistics.json` has all counts." if counts else "",
        "content": "`README.md` describes each file and column.",
        "labels": "`provenance/values.csv` lists every current value." if "provenance/values.csv" in paths else "",
        "missing": f"{missing} clusters without complete gold are omitted; `manifest.json` names them."
        if missing
        else "",
        "splits": f"Yes: {', '.join(f'`{path}`' for path in splits)}, each with a report of leakage." if splits else "",
        "external": _sources(project),
        "workers": f"{raters} people annotated, under pseudonyms. Their payment is not in the data." if raters else "",
        "time": time,
        "preprocessing": f"{texts} `rounds.jsonl` has the design of each round.",
        "raw": "Yes: every answer of every annotator is in `answers/`." if rounds.exists() else "",
        "software": "Concord, under the Apache License 2.0.",
        "distributed": f"DOI {edition.doi}." if edition.doi else "",
        "licence": f"{facts.licence} {facts.licence_address}".strip(),
        "third parties": _sources(project),
    }


def _sources(project: Project) -> str:
    rows = Import.objects.filter(project=project, state=ImportState.ARRIVED).order_by("pk").defer("report", "counts")
    lines = [
        f"* {row.file_name}: licence {row.licence or 'unknown'}, redistribution {redistribution_of(row) or 'unknown'}"
        for row in rows[:NAMED]
    ]
    return "\n".join(["Imported sources (`provenance/sources.csv` has all):", "", *lines]) if lines else ""
