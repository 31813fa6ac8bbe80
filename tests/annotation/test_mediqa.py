"""MEDIQA-AnS's files come in in any order and come back byte for byte.

The files other than the two shared ones are built from their description (formats.md), because they cannot be had.
"""

import json
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from accounts.models import User
from annotation.formats.mediqa.files import BY_KEY, FILES, PRIMARY
from annotation.formats.mediqa.published import files
from annotation.imports.actions import check_files, import_files
from annotation.models import Passage, Question, QuestionText, WrittenSummary
from projects.models import ImportWarning, Member, Project, Unit
from projects.people.actions import create_project
from projects.uploads.faults import BadFiles
from projects.uploads.files import Source

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

Json = dict[str, Any]
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "mediqa_ans"
QUESTIONS = {"1": "what is café au lait spot", "3": "is it serious"}
#: Question, passage text, page text, URL and rating by passage.
PASSAGES = {
    "1_Answer2": (
        "1",
        "Spots: A spot is flat.  It is brown. - One\n- Two",
        "Home Spots: A spot is flat.",
        "http://a.org",
        3,
    ),
    "1_Answer10": ("1", "A spot may fade.", "A spot may fade. Contact", "", 4),
    "3_Answer1": ("3", "It is “rarely” serious.", "All. It is “rarely” serious.", "https://b.gov/x", 4),
}
RATINGS = {3: "3-Incomplete", 4: "4-Excellent"}


def of_question(question: str, form: str) -> str:
    return {"extractive": "A spot is flat. It is brown.", "abstractive": f"All about {question}."}[form]


def of_passage(passage: str, form: str) -> str:
    return PASSAGES[passage][1] if form == "extractive" else f"About {passage}."


def content(key: str) -> Json:
    """Return a file as formats.md describes it. The orders of answers differ between files."""
    file = BY_KEY[key]
    keys = [*PASSAGES] if file.scope == "multi" else [*reversed(PASSAGES)]
    if file == PRIMARY:
        return {
            question: {
                "question": text,
                "multi_abs_summ": of_question(question, "abstractive"),
                "multi_ext_summ": of_question(question, "extractive"),
                "answers": {
                    one: {
                        "answer_abs_summ": of_passage(one, "abstractive"),
                        "answer_ext_summ": of_passage(one, "extractive"),
                        "section": PASSAGES[one][1],
                        "article": PASSAGES[one][2],
                        "url": PASSAGES[one][3],
                        "rating": RATINGS[PASSAGES[one][4]],
                    }
                    for one in keys
                    if PASSAGES[one][0] == question
                },
            }
            for question, text in QUESTIONS.items()
        }
    part = 1 if file.part == "passage" else 2
    if file.scope == "multi":
        return {
            question: {
                "summary": of_question(question, str(file.form)),
                "articles": {
                    one: [PASSAGES[one][part], RATINGS[PASSAGES[one][4]]]
                    for one in keys
                    if PASSAGES[one][0] == question
                },
                "question": text,
            }
            for question, text in QUESTIONS.items()
        }
    return {
        one: {
            "summary": of_passage(one, str(file.form)),
            "articles": PASSAGES[one][part],
            "question": QUESTIONS[PASSAGES[one][0]],
            "question_id": PASSAGES[one][0],
            "rating": RATINGS[PASSAGES[one][4]],
        }
        for one in keys
    }


def published(value: object) -> bytes:
    return json.dumps(value, indent=4).encode()


NINE = {f"{file.key}.json": published(content(file.key)) for file in FILES}
ONE = next(name for name in NINE if name.startswith("section2answer_multi_ext"))


@pytest.fixture
def project() -> Project:
    return create_project(slug="ask", name="Ask", by=None)


@pytest.fixture
def bring(project: Project, tmp_path: Path) -> Callable[[Mapping[str, bytes]], None]:
    def bring(contents: Mapping[str, bytes]) -> None:
        sources = []
        for name, value in contents.items():
            (tmp_path / name).write_bytes(value)
            sources.append(Source.of(tmp_path / name))
        checked = check_files(project=project, format="mediqa-ans", sources=sources)
        import_files(project=project, format="mediqa-ans", checked=checked, by=None)

    return bring


def faults(bring: Callable[[Mapping[str, bytes]], None], value: object, name: str = ONE) -> list[tuple[int, str, str]]:
    with pytest.raises(BadFiles) as caught:
        bring({name: value if isinstance(value, bytes) else published(value)})
    return [(fault.line, fault.field, fault.message) for fault in caught.value.faults]


def test_the_nine_files_come_back_byte_for_byte(project: Project, bring: Callable[..., None]) -> None:
    bring(NINE)
    assert dict(files(project)) == NINE
    counts = [model.objects.count() for model in (Question, Passage, QuestionText, WrittenSummary)]
    assert counts == [2, 3, 2 + 3 * 3, 2 * 2 + 3 * 2]
    call_command("verify_audit")


@pytest.mark.parametrize("order", list(permutations([0, 1, 4])))
def test_files_come_in_one_after_the_other_in_any_order(
    project: Project, bring: Callable[..., None], order: tuple[int, ...]
) -> None:
    names = [list(NINE)[n] for n in order]
    for name in names:
        bring({name: NINE[name]})
    released = dict(files(project))
    assert {name: released[name] for name in names} == {name: NINE[name] for name in names}


def test_only_files_that_the_rows_can_fill_are_released(project: Project, bring: Callable[..., None]) -> None:
    bring({ONE: NINE[ONE]})
    assert dict(files(project)) == {ONE: NINE[ONE]}


def test_the_primary_file_fills_the_others_too(project: Project, bring: Callable[..., None]) -> None:
    bring({f"{PRIMARY.key}.json": NINE[f"{PRIMARY.key}.json"]})
    released = dict(files(project))
    assert {name: json.loads(value) for name, value in released.items()} == {
        name: json.loads(value) for name, value in NINE.items()
    }


def test_a_corrected_summary_changes_one_value(project: Project, bring: Callable[..., None]) -> None:
    bring({ONE: NINE[ONE]})
    old = WrittenSummary.objects.get(question__key="3")
    unit = Unit.objects.create(project=project, type=old.unit.type, key=f"{old.unit.key}~2")
    Unit.objects.filter(pk=old.unit_id).update(superseded_by=unit)
    WrittenSummary.objects.create(question=old.question, form=old.form, version=2, text="New.", unit=unit)
    expected = content(ONE.removesuffix(".json"))
    expected["3"]["summary"] = "New."
    assert dict(files(project)) == {ONE: published(expected)}


def test_unknown_keys_and_other_spellings_of_ratings_are_kept(project: Project, bring: Callable[..., None]) -> None:
    value = content(PRIMARY.key)
    value["1"]["answers"]["1_Answer2"]["rating"] = 3
    value["1"]["answers"]["1_Answer2"]["source"] = ["x", 1]
    bring({f"{PRIMARY.key}.json": published(value)})
    assert dict(files(project))[f"{PRIMARY.key}.json"] == published(value)
    assert Passage.objects.get(key="1_Answer2").rating == 3
    assert "unknown key" in set(ImportWarning.objects.values_list("kind", flat=True))


def test_an_untidy_file_is_read_and_said_to_be_spaced_differently(project: Project, bring: Callable[..., None]) -> None:
    text = json.dumps(content(ONE.removesuffix(".json")), ensure_ascii=False, indent=2)
    bring({ONE: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() + b"\r\n"})
    assert dict(files(project)) == {ONE: NINE[ONE]}
    assert ImportWarning.objects.filter(kind="file").count() == 1


def test_unusual_content_is_imported_with_a_warning(project: Project, bring: Callable[..., None]) -> None:
    value = content(ONE.removesuffix(".json"))
    value["3"]["question"] = value["1"]["question"].upper()
    value["1"]["summary"] = "A spot is flat. ... A spot is green."
    value["3"]["summary"] = " "
    bring({ONE: published(value)})
    found = {one.kind: (one.item, one.message, one.text) for one in ImportWarning.objects.all()}
    message = "2 of 3 sentences do not occur in its passages. One is shown."
    assert found["not in its passages"] == ("1", message, "A spot is green.")
    assert found["repeated question"][0] == "3"
    assert found["empty summary"][0] == "3"
    assert found["gaps in ids"][1] == "1 ids between 1 and 3 do not occur: 2."


@pytest.mark.parametrize(
    ("path", "value", "line", "field", "message"),
    [
        (("1", "articles", "1_Answer2", 1), "5-Superb", 6, "1.articles.1_Answer2[1]", "expected a rating"),
        (("1", "articles", "1_Answer2", 1), "3-Excellent", 6, "1.articles.1_Answer2[1]", "expected a rating"),
        (("1", "articles", "1_Answer2", 1), True, 6, "1.articles.1_Answer2[1]", "expected a rating"),
        (("1", "articles", "1_Answer2", 0), ["a"], 5, "1.articles.1_Answer2[0]", "expected a text, found a list of 1"),
        (("1", "articles", "1_Answer2", 0), " ", 5, "1.articles.1_Answer2[0]", "the text is empty"),
        (("1", "articles", "1_Answer2"), "text", 4, "1.articles.1_Answer2", "expected a list of the text and the"),
        (("1", "articles"), {}, 3, "1.articles", "expected an object with passages"),
        (("1", "summary"), None, 3, "1.summary", "expected a text, found null"),
        (("1", "question"), "nul \0", 13, "1.question", "a NUL character"),
        (("1",), {"summary": ""}, 2, "1", "missing: articles, question"),
    ],
)  # fmt: skip
def test_a_fault_is_located(
    bring: Callable[..., None], path: tuple[str | int, ...], value: object, line: int, field: str, message: str
) -> None:
    changed: Any = content(ONE.removesuffix(".json"))
    at = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    [found] = faults(bring, changed)
    assert (found[1], found[2][: len(message)]) == (field, message)
    assert abs(found[0] - line) <= 1, found
    assert not Unit.objects.exists()


def test_a_repeated_key_and_an_open_quotation_mark_are_located(bring: Callable[..., None]) -> None:
    twice = NINE[ONE].replace(b'"3_Answer1"', b'"1_Answer2"').replace(b'"3": {', b'"1": {')
    [found] = faults(bring, twice)
    line = twice[: twice.rindex(b'"1": {')].count(b"\n") + 1
    assert found == (line, "1", 'the key "1" occurs twice in one object')
    cut = NINE[ONE].replace(b'is it serious"', b"is it serious")
    [found] = faults(bring, cut)
    assert found[0] == cut[: cut.index(b"is it serious")].count(b"\n") + 1
    column = len(b'        "question": "')
    assert found[2].endswith(f"; the string that opens at column {column} may lack its closing quotation mark")


@pytest.mark.parametrize(
    ("old", "new", "field", "message"),
    [
        (b'"3-Incomplete"', b"NaN", "1.articles.1_Answer2[1]", "NaN is not a JSON value"),
        (b'"3-Incomplete"', b"1" * 31, "1.articles.1_Answer2[1]", "a number has 31 digits"),
        (b'"3-Incomplete"', b"[" * 2_000 + b"]" * 2_000, "line", "the brackets are nested too deeply"),
        (b"is it serious", b"is\0it serious", "3.question", "a NUL character at column 24"),
        (b'is it serious"\n    }\n}', b"is it ser", "3.question", "the file seems truncated"),
    ],
)
def test_what_is_no_json_is_located(
    bring: Callable[..., None], old: bytes, new: bytes, field: str, message: str
) -> None:
    spoiled = NINE[ONE].replace(old, new)
    [found] = faults(bring, spoiled)
    assert found[:2] == (spoiled[: spoiled.index(new)].count(b"\n") + 1, field)
    assert found[2].startswith(message)


def test_an_empty_file_and_one_in_utf_16_are_named(bring: Callable[..., None]) -> None:
    for empty in (b"", b"\n \n"):
        assert faults(bring, empty) == [(1, "file", "the file is empty; expected one JSON object")]
    [found] = faults(bring, NINE[ONE].decode().encode("utf-16"))
    assert found == (1, "file", "expected one JSON object in UTF-8, found UTF-16 text (little-endian byte order mark)")


def test_another_text_of_the_project_is_a_fault(project: Project, bring: Callable[..., None]) -> None:
    bring({ONE: NINE[ONE]})
    other = next(name for name in NINE if name.startswith("section2answer_multi_abs"))
    value = content(other.removesuffix(".json"))
    value["1"]["articles"]["1_Answer2"] = ["Other text.", "4-Excellent"]
    found = faults(bring, value, other)
    assert [(field, message.partition(":")[0]) for _, field, message in found] == [
        ("1.articles.1_Answer2[0]", "the project has another text"),
        ("1.articles.1_Answer2[1]", "the project has another rating"),
    ]


def test_a_page_of_an_unknown_passage_is_a_fault(project: Project, bring: Callable[..., None]) -> None:
    bring({ONE: NINE[ONE]})
    page = next(name for name in NINE if name.startswith("page2answer_multi_ext"))
    value = content(page.removesuffix(".json"))
    value["1"]["articles"]["1_Answer99"] = ["Text", "4-Excellent"]
    [found] = faults(bring, value, page)
    assert found[1:] == ("1.articles.1_Answer99[0]", "a page of an unknown passage; the question 1 has no 1_Answer99")


def test_a_file_with_another_name_needs_to_be_named(bring: Callable[..., None]) -> None:
    [found] = faults(bring, NINE[ONE], "mine.json")
    assert found[2].startswith("the name is none of MEDIQA-AnS's files; select which one it is:")


def test_the_corpus_lists_questions_passages_and_summaries(
    project: Project, lead: User, client_of: Callable[[User], APIClient], bring: Callable[..., None]
) -> None:
    bring(NINE)
    Member.objects.create(project=project, user=lead, role="lead")
    client = client_of(lead)

    def rows(key: str, **query: str) -> list[list[object]]:
        reply = client.get(f"/api/v1/projects/{project.slug}/materials/{key}/", query)
        return [row["cells"] for row in reply.json()["results"]]

    kinds = client.get(f"/api/v1/projects/{project.slug}/materials/").json()["kinds"]
    assert [kind["key"] for kind in kinds] == ["questions", "passages", "written_summaries"]
    assert rows("questions") == [[QUESTIONS["1"], "1", "2", "6"], [QUESTIONS["3"], "3", "1", "4"]]
    assert rows("questions", search="SERIOUS") == [[QUESTIONS["3"], "3", "1", "4"]]
    first = PASSAGES["1_Answer2"][1]
    assert rows("passages", state="rated_3") == [[first, "1_Answer2", "Incomplete", str(len(first)), QUESTIONS["1"]]]
    assert [row[1] for row in rows("passages", ordering="-rating")][-1] == "1_Answer2"
    assert rows("written_summaries", state="of_all", search="about 3") == [
        ["All about 3.", "Abstractive", "3", "all", "3", "imported"]
    ]
    found = client.get(f"/api/v1/projects/{project.slug}/search/", {"search": "spot"}).json()
    assert [(one["key"], one["total"]) for one in found] == [("questions", 1)]


@pytest.mark.django_db(transaction=True)
def test_a_release_describes_the_files(project: Project, bring: Callable[..., None], tmp_path: Path) -> None:
    bring({ONE: NINE[ONE]})
    call_command("release", "--project", project.slug, "--version", "1.0.0", "--out", str(tmp_path / "r"))
    assert (tmp_path / "r" / "mediqa_ans" / ONE).read_bytes() == NINE[ONE]
    assert "`mediqa_ans/` has the questions" in (tmp_path / "r" / "README.md").read_text()
    call_command("verify_release", str(tmp_path / "r"))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published files of MEDIQA-AnS are not beside the project")
@pytest.mark.parametrize("is_reversed", [False, True])
def test_the_published_files_come_back(project: Project, bring: Callable[..., None], is_reversed: bool) -> None:
    contents = {path.name: path.read_bytes() for path in sorted(SHARED.glob("*.json"))}
    names = sorted(contents, reverse=is_reversed)
    for name in names:
        bring({name: contents[name]})
    assert dict(files(project)) == contents
    assert (Question.objects.count(), Passage.objects.count(), WrittenSummary.objects.count()) == (156, 552, 312)
    assert [Passage.objects.filter(rating=rating).count() for rating in (1, 2, 3, 4)] == [0, 0, 321, 231]
    message = "127 of 1,843 extractive sentences do not occur in their passages."
    assert ImportWarning.objects.filter(kind="not in its passages", message=message).count() == 1
