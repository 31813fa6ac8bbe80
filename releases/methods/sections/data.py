"""Sections on the data set, the search, and the corpus."""

from collections.abc import Iterator

from annotation.flow.queries import Stage

from ..facts.data import CorpusFacts, QueryFacts, SourceFacts
from ..facts.study import StudyFacts
from ..text import SETTINGS, Section, are, count, day, listed, named, one_line, quoted

#: Nouns of the stages of the flow: one, and more.
NOUNS = {
    "retrieved": ("review retrieved", "reviews retrieved"),
    "screened": ("review screened", "reviews screened"),
    "included": ("review included", "reviews included"),
    "studies": ("study of these reviews", "studies of these reviews"),
    "abstracts": ("study with an abstract", "studies with an abstract"),
    "read": ("review read for evidence", "reviews read for evidence"),
    "sentences": ("sentence with evidence", "sentences with evidence"),
    "targets": ("target sentence", "target sentences"),
    "supported": ("target sentence with evidence", "target sentences with evidence"),
    "tuples": ("PICO tuple (cluster)", "PICO tuples (clusters)"),
    "propositions": ("proposition", "propositions"),
}
SCREENING = ("found", "retrieved", "screened", "included")


def sections(facts: StudyFacts) -> Iterator[Section]:
    yield _data_set(facts)
    yield _search(facts)
    yield _corpus(facts)


def _data_set(facts: StudyFacts) -> Section:
    section, stated = Section("Data set"), facts.stated
    fictitious = "The data set is fictitious and demonstrates the software; it is not evidence of anything."
    section.say(
        one_line(stated.description) or section.stated("Description of the data set", "", SETTINGS),
        fictitious if facts.illustrative else "",
    )
    section.say(
        section.stated("Language of the texts (BCP 47)", stated.language),
        section.stated("Licence of the data", stated.licence, SETTINGS),
    )
    return section


def _search(facts: StudyFacts) -> Section:
    section, data = Section("Search and screening"), facts.data
    for query in data.queries:
        section.say(_query(query))
    stages = [stage for stage in data.flow if stage.key in SCREENING]
    if any(stage.key == "screened" for stage in stages) or data.queries:
        section.say(flow(stages))
    return section


def _query(query: QueryFacts) -> Iterator[str]:
    first, last = query.years
    limits = [f"topic {quoted(query.topic)}"] if query.topic else []
    if first or last:
        limits.append(
            f"published {f'from {first}' if first else ''}{' ' * bool(first)}{f'to {last}' if last else ''}".rstrip()
        )
    yield (
        f"PubMed was searched on {day(query.searched_on)} with the query {quoted(query.query)}"
        + (f" ({'; '.join(limits)})" if limits else "")
        + "."
    )
    if query.translation and one_line(query.translation) != one_line(query.query):
        yield f"PubMed interpreted the query as {quoted(query.translation)}."
    if query.found is None:
        yield "PubMed had not answered when this text was written."
        return
    outcomes = [
        f"{query.retrieved:,} {are(query.retrieved)} retrieved",
        f"{query.known:,} {are(query.known)} already in the data set" if query.known else "",
        f"{query.missing:,} {are(query.missing)} no longer in PubMed" if query.missing else "",
        f"{query.unfit:,} could not be imported" if query.unfit else "",
        f"{query.waiting:,} {are(query.waiting)} not fetched" if query.waiting else "",
    ]
    yield f"It found {count(query.found, 'record')}; {listed(filter(None, outcomes))}."
    if not query.is_done:
        yield "The search had not ended when this text was written."


def flow(stages: list[Stage]) -> str:
    """Return the stages of the flow of the data set as one sentence; empty if there are none."""
    if not stages:
        return ""
    return f"Flow (PRISMA 2020): {'; '.join(_stage(stage) for stage in stages)}."


def _stage(stage: Stage) -> str:
    if stage.key == "found":
        words = stage.words.removeprefix("Records ")
        counted = f"{count(stage.count, 'record')} {words}"
    else:
        counted = count(stage.count, *NOUNS[stage.key])
    notes = [f"{n:,} {words}" for words, n in stage.parts]
    aside = ", ".join(f"{n:,} {_lower(words)}" for words, n in stage.aside)
    if aside:
        notes.append(f"{_lower(stage.aside_words)}: {aside}")
    return counted + (f" ({'; '.join(notes)})" if notes else "")


def _lower(words: str) -> str:
    """Return words within a sentence. Names such as PubMed keep their capitals."""
    return words if words[1:2].isupper() or words.startswith("PubMed") else words[:1].lower() + words[1:]


def _corpus(facts: StudyFacts) -> Section:
    section, data = Section("Corpus"), facts.data
    if contents := _contents(data.corpus):
        section.say(f"The corpus consists of {contents}.", _incomplete(data.corpus), _corrected(data.corpus))
    stages = [stage for stage in data.flow if stage.key not in SCREENING]
    if any(stage.aside for stage in stages):
        section.say(flow(stages))
    if facts.release.levels:
        section.say(f"This release contains {released_levels(facts)}.")
    section.say(_sources(section, [source for source in data.sources if source.has_texts]))
    if data.studies_fetched:
        section.say(
            f"Records of studies were fetched from PubMed by their ids in {count(data.studies_fetched, 'request')}."
        )
    return section


def _contents(corpus: CorpusFacts) -> str:
    of_reviews = corpus.propositions - corpus.inputs
    propositions = (
        f"{count(corpus.clusters, 'cluster')} with {count(corpus.propositions, 'proposition')} "
        f"({of_reviews:,} of reviews and {corpus.inputs:,} of studies)"
    )
    parts = [
        count(corpus.reviews, "systematic review") if corpus.reviews else "",
        count(corpus.studies, "primary study", "primary studies") if corpus.studies else "",
        count(corpus.documents, "document with a summary", "documents with summaries") if corpus.documents else "",
        count(corpus.sentences, "target sentence") if corpus.sentences else "",
        propositions if corpus.clusters else "",
        count(corpus.questions, "question") if corpus.questions else "",
        count(corpus.passages, "passage") if corpus.passages else "",
        count(corpus.written_summaries, "written summary", "written summaries") if corpus.written_summaries else "",
    ]
    return listed(filter(None, parts))


def _incomplete(corpus: CorpusFacts) -> str:
    if not corpus.incomplete:
        return ""
    lack = "lacks" if corpus.incomplete == 1 else "lack"
    return f"Of the clusters, {corpus.incomplete:,} {lack} a label, an input or a relation."


def _corrected(corpus: CorpusFacts) -> str:
    n = corpus.corrected_texts
    return f"{count(n, 'text')} {are(n)} corrected after {'it' if n == 1 else 'they'} had been annotated." if n else ""


def released_levels(facts: StudyFacts) -> str:
    """Return the released targets by level. The datasheet says the same."""
    return "; ".join(
        f"{count(level['targets'], 'target')} of level {level['level']} with {count(level['inputs'], 'input')}, from "
        f"{count(level['reviews'], 'review')} and {count(level['studies'], 'study', 'studies')}"
        for level in {level["level"]: level for level in facts.release.levels}.values()
    )


def _sources(section: Section, sources: list[SourceFacts]) -> Iterator[str]:
    if not sources:
        return
    yield f"Texts were imported from {count(len(sources), 'file or set of files', 'files or sets of files')}:"
    yield named([_source(source) for source in sources]) + "."
    if unknown := sum(not source.licence for source in sources):
        of = "the imported texts" if unknown == len(sources) else count(unknown, "imported source")
        yield section.stated(f"Licence of {of}", "", "import")


def _source(source: SourceFacts) -> str:
    notes = [f"format {source.format}", day(source.imported_on), f"SHA-256 {source.sha256[:12]}"]
    notes += [f"licence {source.licence}"] if source.licence else []
    notes += [f"redistribution {source.redistribution}"] if source.redistribution else []
    return f"{source.file_name} ({', '.join(notes)})"
