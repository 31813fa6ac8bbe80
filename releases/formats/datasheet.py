"""``datasheet.md``: the questions of Datasheets for Datasets, answered from facts and from the settings of the lead."""

from collections.abc import Sequence

from ..citation.edition import Edition
from ..citation.questions import DATASHEET, answer
from ..methods.facts.data import SourceFacts
from ..methods.facts.study import StudyFacts
from ..methods.sections.data import released_levels
from ..methods.sections.people import number_of_people
from ..methods.text import count
from .notes import Notes

#: Maximum number of sources that are named; `provenance/sources.csv` has all.
NAMED = 20


def datasheet(study: StudyFacts, edition: Edition, notes: Notes, paths: Sequence[str]) -> str:
    """Return the file. ``paths``: the files of the release."""
    known = {f"datasheet.{key}": text for key, text in _from_rows(study, edition, notes, paths).items()}
    lines = [f"# Datasheet of {study.stated.title} {edition.version}", ""]
    lines += ["The questions are those of Gebru et al., Datasheets for Datasets, in short form.", ""]
    section = ""
    for question in DATASHEET:
        if question.section != section:
            section = question.section
            lines += [f"## {section}", ""]
        lines += [f"**{question.text}**", "", answer(question, known.get(question.id, ""), study.stated.answers), ""]
    return "\n".join(lines)


def _from_rows(study: StudyFacts, edition: Edition, notes: Notes, paths: Sequence[str]) -> dict[str, str]:
    """Return the answers that follow from the data, by question."""
    stated, levels = study.stated, released_levels(study)
    missing = len(notes.counts.get("clusters_without_complete_gold", []))
    first = min((round.opened_on for round in study.rounds), default=None)
    texts = "Texts are released exactly as imported." if notes.has_texts else "Texts are left out."
    has_answers = bool(study.rounds or study.curation.edits)
    splits = [path for path in paths if path.startswith("splits/") and path.endswith(".csv")]
    time = f"The first round was opened on {first}; the newest change is of {edition.date}." if first else ""
    omitted = "cluster without complete gold is" if missing == 1 else "clusters without complete gold are"
    return {
        "purpose": stated.description,
        "creators": "; ".join(
            f"{creator.name} ({creator.affiliation})" if creator.affiliation else creator.name
            for creator in stated.creators
        ),
        "funding": "; ".join(" ".join(filter(None, (f.name, f.award_number, f.award_title))) for f in stated.funders),
        "count": f"{levels}. `statistics.json` has all counts." if levels else "",
        "content": "`README.md` describes each file and column.",
        "labels": "`provenance/values.csv` lists every current value." if "provenance/values.csv" in paths else "",
        "missing": f"{missing} {omitted} omitted; `manifest.json` names them." if missing else "",
        "splits": f"Yes: {', '.join(f'`{path}`' for path in splits)}, each with a report of leakage." if splits else "",
        "external": _sources(study.data.sources),
        "acquired": "`methods.md` describes searches, imports, rounds and agreement.",
        "workers": _workers(study),
        "time": time,
        "consent": _consent(study),
        "preprocessing": f"{texts} `rounds.jsonl` has the design of each round, and `methods.md` describes it.",
        "raw": "Yes: every answer of every annotator is in `answers/`." if has_answers else "",
        "software": "Concord, under the Apache License 2.0.",
        "distributed": f"DOI {edition.doi}." if edition.doi else "",
        "licence": f"{stated.licence} {stated.licence_address}".strip(),
        "third parties": _sources(study.data.sources),
    }


def _workers(study: StudyFacts) -> str:
    people = study.people
    if not people.number:
        return ""
    paid = [
        f"{each.platform} paid {each.currency} {each.pay:.2f} per place" for each in people.recruitments if each.pay
    ]
    payment = f"{'; '.join(paid)}." if paid else "Their payment is not in the data."
    return f"{number_of_people(people)}. They have pseudonyms. {payment}"


def _consent(study: StudyFacts) -> str:
    n = study.people.consents
    return f"{count(n, 'person', 'people')} agreed to a consent text before working." if n else ""


def _sources(sources: Sequence[SourceFacts]) -> str:
    lines = [
        f"* {each.file_name}: licence {each.licence or 'unknown'}, redistribution {each.redistribution or 'unknown'}"
        for each in sources[:NAMED]
    ]
    return "\n".join(["Imported sources (`provenance/sources.csv` has all):", "", *lines]) if lines else ""
