"""Imported files become rows from which the file can be rebuilt."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.formats.m3 import existing
from annotation.formats.m3.records import as_published
from annotation.models import Cluster, Cue, Inclusion, Input, Label, PicoElement, Proposition, Review, Study, Target
from api.problems import Problem
from projects.models import Decision, Import, Project, Unit
from tests.annotation.m3_files import as_bytes, checked, cluster, faults_of, import_records, plain, source, write


def rebuilt(project: Project, level: str, docids: list[str]) -> list[dict[str, object]]:
    stored = existing.stored_items(project, level, docids)
    return [as_published(stored[docid]) for docid in docids]


def test_a_cluster_becomes_units_that_come_together_in_the_order_of_the_file(corpus: Project) -> None:
    second = Cluster.objects.get(key="26258610_1")
    units = Unit.objects.filter(proposition__cluster=second).order_by("position")
    assert [u.key for u in units] == ["26258610_1/0", "26258610_1/1", "26258610_1/2"]
    assert {u.context for u in units} == {second.unit_id}
    assert [u.type for u in units] == ["proposition"] * 3
    assert list(Cluster.objects.order_by("position").values_list("key", flat=True)) == [
        "26258610_0",
        "26258610_1",
        "30000001_0",
    ]
    assert Unit.objects.filter(type="review").count() == Review.objects.count() == 2
    assert Study.objects.count() == 3
    assert set(Review.objects.get(pmid="26258610").studies().values_list("pmid", flat=True)) == {"111", "222"}


def test_the_abstract_of_a_study_is_not_stored_again_as_the_text_of_an_input(project: Project, file: Path) -> None:
    for pmid, abstract in (("111", "Trial one."), ("222", "Another abstract.")):
        Study.objects.create(project=project, pmid=pmid, abstract=abstract)
    record = plain("26258610", "It helps.", ("111", "Trial one."), ("222", "Trial two."), ("333", "Trial three."))
    import_records(project, write(file, [record]))
    assert list(Input.objects.values_list("text", flat=True)) == ["", "Trial two.", "Trial three."]
    assert rebuilt(project, "1", ["26258610"]) == [record]
    assert Study.objects.get(pmid="333").abstract == "", "a PubMed record can still give it"


def test_every_field_gets_an_imported_decision_with_a_digest_cue_or_not(corpus: Project) -> None:
    decisions = Decision.objects.filter(unit__key="26258610_0/0")
    assert {(d.kind, d.field, d.origin) for d in decisions} == {
        ("label", field, "imported") for field in ("polarity", "polarity_cue", "modality", "modality_cue")
    }
    assert all(len(d.digest) == 64 for d in decisions)
    relation = Decision.objects.get(unit__cluster__key="26258610_1", kind="discourse")
    assert (relation.field, relation.origin) == ("relation", "imported")


@pytest.mark.parametrize(
    ("text", "cue", "found", "occurrences", "place"),
    [
        ("It may help.", "may", "exact", 1, (3, 6)),
        ("Both agents, both doses.", "both", "exact", 2, (13, 17)),
        ("Both agents help.", "both", "case", 1, (0, 4)),
        ("Neither drug was related.", "neither was related", "absent", 0, None),
        ("An effective drug.", "effective ", "exact", 1, (3, 13)),
        ("\U0001d4b3 may help.", "may", "exact", 1, (2, 5)),
        ("Caf\u00e9 may help.", "Cafe\u0301", "absent", 0, None),
    ],
)
def test_a_cue_keeps_its_text_and_says_how_it_was_found(
    project: Project, file: Path, text: str, cue: str, found: str, occurrences: int, place: tuple[int, int] | None
) -> None:
    import_records(
        project, write(file, [cluster(studies=[source(text, source_modality_span=cue, source_direction_span="")])])
    )
    row = Cue.objects.get(label__unit__proposition__position=1)
    assert (row.text, row.found, row.occurrences) == (cue, found, occurrences)
    fragments = [(f.start, f.end) for f in row.fragments.all()]
    assert fragments == ([place] if place else [])
    assert all(text[f.start : f.end] == f.quote for f in row.fragments.all())


@pytest.mark.parametrize(
    ("slot", "form", "quotes"),
    [
        ("", "blank", []),
        ("nepralin", "explicit", ["nepralin"]),
        ("Nepralin", "explicit", ["nepralin"]),
        ("nepralin ", "explicit", ["nepralin"]),
        ("rs42[A]", "reworded", []),
        ("[nepralin]", "implied", []),
        ("[nepralin] ", "implied", []),
        ("[oral] nepralin", "partly implied", []),
        ("nepralin [at noon]", "partly implied", []),
        ("[oral] and [topical]", "partly implied", []),
        ("nepralin therapy", "reworded", []),
    ],
)
def test_an_element_has_the_form_that_its_text_shows(
    project: Project, file: Path, slot: str, form: str, quotes: list[str]
) -> None:
    import_records(project, write(file, [cluster(pico={"p": "", "i": slot, "c": "", "o": ""})]))
    row = PicoElement.objects.get(element="i")
    assert (row.text, row.form) == (slot, form)
    target = Proposition.objects.get(position=0).text
    assert [target[f.start : f.end] for f in row.fragments.all()] == quotes


def test_an_allele_in_brackets_is_explicit_where_the_target_has_it(project: Project, file: Path) -> None:
    pico = {"p": "", "i": "rs4236601[A]", "c": "", "o": ""}
    import_records(project, write(file, [cluster(pico=pico, target_text="The rs4236601[A] allele reduces relapse.")]))
    assert PicoElement.objects.get(element="i").form == "explicit"


def test_sentences_and_documents_become_targets_and_inputs(project: Project, tmp_path: Path) -> None:
    repeated = plain("20222888_2", "The target .", ("9", "Same."), ("9", "Same."), ("10", "Other."))
    sentences = [plain("20222888_1", " Leading space", ("9", 'Tab\tand "quotes"')), repeated]
    documents = [plain("20222888", "Whole", ("9", "One.\nTwo."), ("11", "Thrée."))]
    [one] = import_records(project, write(tmp_path / "l2", sentences))
    [two] = import_records(project, write(tmp_path / "l1", documents))
    assert (one.level, two.level) == ("2", "1")
    assert rebuilt(project, "2", ["20222888_1", "20222888_2"]) == sentences
    assert rebuilt(project, "1", ["20222888"]) == documents
    assert Review.objects.count() == 1
    assert Study.objects.count() == 3
    assert Input.objects.count() == 6
    assert set(Unit.objects.exclude(type="review").values_list("type", "key")) == {
        ("target sentence", "20222888_1"),
        ("target sentence", "20222888_2"),
        ("target document", "20222888"),
    }
    links = Inclusion.objects.order_by("position").values_list("study__pmid", "position", "imported")
    assert list(links) == [("9", 0, one.pk), ("10", 1, one.pk), ("11", 2, two.pk)]
    [notice] = [n for n in one.warnings.values() if n["kind"] == "input repeated within the item"]
    assert (notice["item"], notice["place"], notice["text"]) == ("20222888_2", "input 2", "9")
    assert list(Target.objects.filter(level="sentence").order_by("position").values_list("position", flat=True)) == [
        0,
        1,
    ]


def test_a_docid_is_no_join_key_across_levels(project: Project, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "l2", [plain("26258610_0", "Another text", ("9", "S"))]))
    import_records(project, write(tmp_path / "l3", [cluster("26258610_0")]))
    assert Target.objects.get().text != Proposition.objects.get(position=0).text


def test_the_same_file_again_changes_nothing(corpus: Project, tmp_path: Path) -> None:
    records = rebuilt(corpus, "3", ["26258610_0", "26258610_1", "30000001_0"])
    before = Unit.objects.count(), Decision.objects.count(), Import.objects.count()
    again = checked(corpus, write(tmp_path / "renamed.jsonl", records))
    assert again.known
    assert not again.parsed
    assert import_records(corpus, write(tmp_path / "renamed.jsonl", records)) == []
    assert before == (Unit.objects.count(), Decision.objects.count(), Import.objects.count())


def test_another_file_keeps_equal_items_and_appends_new_ones(corpus: Project, tmp_path: Path) -> None:
    old = rebuilt(corpus, "3", ["26258610_1"])
    before = set(Label.objects.values_list("id", flat=True))
    [made] = import_records(corpus, write(tmp_path / "more.jsonl", [cluster("26258610_2"), *old]))
    assert (made.counts["new"], made.counts["unchanged"]) == (1, 1)
    assert before < set(Label.objects.values_list("id", flat=True))
    assert Label.objects.count() == len(before) + 2
    assert Cluster.objects.get(key="26258610_2").position == 3


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"target_text": "Nepralin reduces relapse!"}, "target_text"),
        ({"discourse_relation": "contradiction"}, "discourse_relation"),
        ({"pico": {"p": "", "i": "nepralin ", "c": "[placebo]", "o": "relapse"}}, "pico.i"),
        ({"target_modality": "strong"}, "target_modality"),
        ({"target_modality_span": "shows"}, "target_modality_span"),
    ],
)
@pytest.mark.row(27)
def test_another_file_with_other_content_under_a_known_docid_is_refused_by_line(
    corpus: Project, tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    found = checked(corpus, write(tmp_path / "other.jsonl", [cluster("26258610_5"), cluster("26258610_0", **change)]))
    assert [(f.line, f.field) for f in found.faults] == [(2, field)]


def test_a_difference_inside_an_input_is_named_by_its_field(corpus: Project, tmp_path: Path) -> None:
    changed = cluster("26258610_0", [source(source_direction_span="Reduce")])
    found = checked(corpus, write(tmp_path / "other.jsonl", [changed]))
    assert [(f.line, f.field) for f in found.faults] == [(1, "input_studies[0].source_direction_span")]


def test_a_concurrent_import_is_a_conflict(project: Project, tmp_path: Path) -> None:
    from annotation.imports.actions import import_files

    found = checked(project, write(tmp_path / "a", [cluster()]))
    import_records(project, write(tmp_path / "b", [cluster()]))
    with pytest.raises(Problem, match="in the meantime"):
        import_files(project=project, format="m3", checked=found, by=None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xef\xbb\xbf" + as_bytes([cluster()]), "byte order mark"),
        (as_bytes([cluster()]).replace(b"\n", b"\r\n"), "CR LF"),
        (as_bytes([cluster()])[:-1], "no line ending"),
        (json.dumps(cluster(target_text="Nepralin reduces Rückfälle.")).encode() + b"\n", "write the same content"),
    ],
)
def test_unusual_characters_are_reported_and_texts_stay_unchanged(
    project: Project, file: Path, content: bytes, said: str
) -> None:
    [made] = import_records(project, write(file, content))
    assert any(said in n["message"] for n in made.warnings.values())
    text = Proposition.objects.get(position=0).text
    assert text == json.loads(content.decode("utf-8-sig"))["target_text"]


@pytest.mark.row(25)
def test_composed_and_decomposed_letters_stay_as_they_are(project: Project, file: Path) -> None:
    decomposed = "Nepralin reduces Ru\u0308ckfa\u0308lle."
    import_records(project, write(file, [cluster(target_text=decomposed, target_direction_span="reduces")]))
    assert Proposition.objects.get(position=0).text == decomposed
    assert Cluster.objects.found_by("RÜCKFÄLLE").exists()


def test_a_relation_against_the_rule_is_kept_with_a_warning(project: Project, file: Path) -> None:
    studies = [
        source(),
        source("No.", "5", source_direction="no effect", source_direction_span="", source_modality_span=""),
    ]
    [made] = import_records(project, write(file, [cluster(studies=studies)]))
    kinds = [n["kind"] for n in made.warnings.values()]
    assert "relation against the rule" in kinds
    assert "polarity without a cue" in kinds
    assert "modality other than moderate without a cue" in kinds


def test_a_gap_in_the_numbers_of_a_review_is_noticed(project: Project, file: Path) -> None:
    [made] = import_records(project, write(file, [cluster("77_0"), cluster("77_3")]))
    [notice] = [n for n in made.warnings.values() if n["kind"] == "numbers of a review with a gap"]
    assert "lacks numbers 1, 2" in notice["message"]


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
full_texts = texts.filter(str.strip)
labels = st.sampled_from(
    [(p, m) for p in ("positive", "no effect", "negative") for m in ("strong", "moderate", "weak")]
    + [("n/a", "no evidence")]
)


@st.composite
def sources(draw: st.DrawFn) -> dict[str, str]:
    (polarity, modality), text = draw(labels), draw(full_texts)
    cues = st.sampled_from(["", text, text[:3], text.upper(), "absent altogether"])
    return source(
        text,
        str(draw(st.integers(1, 10**8))),
        source_direction=polarity,
        source_modality=modality,
        source_direction_span=draw(cues),
        source_modality_span=draw(cues),
    )


@st.composite
def clusters(draw: st.DrawFn) -> list[dict[str, object]]:
    docids = draw(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 9)), min_size=1, max_size=4, unique=True))
    made = []
    for pmid, number in docids:
        polarity, modality = draw(labels)
        text = draw(full_texts)
        slots = st.one_of(
            st.just(""), full_texts, st.sampled_from([text, "[implied]", "[partly] it", "rs1[A]", text + " "])
        )
        made.append(
            cluster(
                f"{pmid}_{number}",
                draw(st.lists(sources(), min_size=1, max_size=3)),
                target_text=text,
                target_direction=polarity,
                target_modality=modality,
                target_direction_span=draw(texts),
                target_modality_span=draw(texts),
                pico={slot: draw(slots) for slot in "pico"},
                discourse_relation=draw(st.sampled_from(["agreement", "contradiction"])),
            )
        )
    return made


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=clusters())
def test_published_files_round_trip_byte_for_byte(db: None, tmp_path: Path, records: list[dict[str, object]]) -> None:
    project = Project.objects.create(slug=f"p{uuid.uuid4().hex}", name="generated")
    content = as_bytes(records)
    import_records(project, write(tmp_path / "generated.jsonl", content))
    docids = [
        str(key) for key in Cluster.objects.filter(project=project).order_by("position").values_list("key", flat=True)
    ]
    assert as_bytes(rebuilt(project, "3", docids)) == content
    for proposition in Proposition.objects.filter(cluster__project=project).prefetch_related(
        "unit__labels__cues__fragments"
    ):
        for label in proposition.unit.labels.all():
            for cue in label.cues.all():
                assert all(proposition.text[f.start : f.end] == f.quote for f in cue.fragments.all())


def appendix_document(**fields: Any) -> dict[str, Any]:
    """Return a document with the names of the paper's appendix."""
    items = [{"source_pmid": "9", "source_abstract": "One.\nTwo."}, {"source_pmid": "11", "source_abstract": "Thrée."}]
    return {
        "target_pmid": "20222888",
        "target_abstract": "Background. Whole",
        "target_conclusions": "Whole",
        "source_items": items,
    } | fields


def test_documents_with_the_names_of_the_appendix_are_read_with_a_warning(project: Project, tmp_path: Path) -> None:
    [imported] = import_records(project, write(tmp_path / "l1", [appendix_document()]))
    published = plain("20222888", "Whole", ("9", "One.\nTwo."), ("11", "Thrée."))
    assert (imported.level, rebuilt(project, "1", ["20222888"])) == ("1", [published])
    assert Review.objects.get().abstract == "Background. Whole"
    [notice] = imported.warnings.values()
    assert notice["message"].startswith("1 lines have the names of the paper's appendix. Assumed: target_pmid is docid")
    assert import_records(project, write(tmp_path / "again", [appendix_document(), plain("1", "T", ("2", "S"))]))
    assert Input.objects.count() == 3


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"target_pmid": "PMC 1"}, ["target_pmid"]),
        ({"target_abstract": 1}, ["target_abstract"]),
        ({"target_conclusions": " ", "source_items": []}, ["target_conclusions", "source_items"]),
        ({"source_items": [{"source_pmid": "9"}]}, ["source_items[0].source_abstract"]),
        ({"source_items": [{"source_pmid": "9", "source_abstract": ""}]}, ["source_items[0].source_abstract"]),
        ({"target_items": []}, ["target_items"]),
    ],
)
def test_faults_in_a_document_with_the_names_of_the_appendix_have_its_names(
    tmp_path: Path, fields: dict[str, Any], faults: list[str]
) -> None:
    found = faults_of(tmp_path / "l1", [appendix_document(**fields)])
    assert [(line, field) for line, field, _ in found] == [(1, name) for name in faults]
