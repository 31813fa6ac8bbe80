"""Imported values keep their digits, and a derived scale reports what it leaves out."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from annotation.imports.actions import Checked, check_files, import_files
from api.problems import Refused
from evaluation.kinds.rate.checking import check
from evaluation.models import Rating
from evaluation.protocols.content import parse
from projects.agreement.queries import page, report
from projects.jobs.batches import silent
from projects.models import ImportWarning, Project, Round
from projects.uploads.files import Source

pytestmark = pytest.mark.django_db
HEAD = "unit,system,rater,criterion,value"


def checked(project: Project, path: Path, *lines: str, head: str = HEAD) -> Checked:
    path.write_text("\n".join((head, *lines)) + "\n", encoding="utf-8")
    return check_files(project=project, format="ratings", sources=[Source.of(path, path.name)])


def bring(project: Project, path: Path, *lines: str, head: str = HEAD) -> list[ImportWarning]:
    """Import the lines and return the warnings."""
    found = checked(project, path, *lines, head=head)
    assert not list(found.faults)
    [done] = import_files(project=project, format="ratings", checked=found, by=project.members.get(role="lead").user)
    return list(done.warnings.order_by("pk"))


def notices(warnings: list[ImportWarning], kind: str) -> list[str]:
    return [warning.text for warning in warnings if warning.kind == kind]


def values() -> list[str]:
    return sorted(Rating.objects.values_list("value", flat=True))


def table(*pairs: tuple[str, str]) -> list[str]:
    """Return a line for each of two raters and each pair of values."""
    return [f"u{n},sysA,r{k},q,{value}" for n, pair in enumerate(pairs) for k, value in enumerate(pair)]


def test_numbers_keep_all_their_digits(project: Project, lead: User, tmp_path: Path) -> None:
    rows = ('u0,sysA,r0,q,"1234,567"', "u0,sysA,r1,q,1234.5625", "u1,sysA,r0,q,12345.67")
    bring(project, tmp_path / "digits.csv", *rows)
    assert values() == ["1234.5625", "1234.567", "12345.67"]


@pytest.mark.parametrize(
    ("pairs", "points"),
    [
        ([("0.5", "1"), ("4.5", "4.5"), ("2", "2.5")], 11),
        ([("3.505", "3.5"), ("3.6", "3.6"), ("3.55", "3.55")], 201),
        ([("100.25", "100.75"), ("104", "104"), ("102", "102.25")], 17),
    ],
)
def test_agreement_is_computed_of_decimals_that_a_scale_of_steps_can_have(
    project: Project, lead: User, tmp_path: Path, pairs: list[tuple[str, str]], points: int
) -> None:
    bring(project, tmp_path / "steps.csv", *table(*pairs))
    [measure] = report(Round.objects.get())["measures"]
    assert (measure["units"], measure["ratings"]) == (3, 6)
    assert len(measure["scale"]) <= points


def test_a_scale_of_too_many_steps_is_noticed_at_the_import(project: Project, lead: User, tmp_path: Path) -> None:
    found = bring(project, tmp_path / "fine.csv", *table(("3.505", "900"), ("4.1234", "17")))
    [notice] = [notice for notice in found if notice.kind == "too many steps"]
    assert "it is limited to 201 steps" in notice.message
    round = Round.objects.get()
    measured = report(round)
    assert measured["measures"] == []
    assert page(round, measured, curates=False)["unmeasured"] == ["q"]


def test_one_number_written_in_two_ways_is_the_same_rating(project: Project, lead: User, tmp_path: Path) -> None:
    found = bring(
        project, tmp_path / "twice.csv", "u1,sysA,r1,q,3", "u1,sysA,r1,q,3.0", "u2,sysA,r1,q,0", "u3,sysA,r1,q,-0"
    )
    assert [notice.kind for notice in found if notice.kind == "given twice"] == ["given twice"]
    assert values() == ["0", "0", "3"]


@pytest.mark.parametrize(
    ("systems", "message"), [("A | B | A", "A occurs twice in 'A | B | A'"), ("A |", "empty system name in 'A |'")]
)
def test_each_system_of_a_text_is_named_once(
    project: Project, lead: User, tmp_path: Path, systems: str, message: str
) -> None:
    found = checked(project, tmp_path / "systems.csv", f"u1,{systems},r1,q,3")
    assert [(fault.line, fault.field, fault.message) for fault in found.faults] == [(2, "system", message)]


def test_the_order_of_the_systems_of_a_text_makes_no_other_text(project: Project, lead: User, tmp_path: Path) -> None:
    bring(project, tmp_path / "order.csv", "u1,A | B,r1,q,3", "u1,B | A,r2,q,3")
    [measure] = report(Round.objects.get())["measures"]
    assert measure["all_agree"] == {"count": 1, "of": 1}


def test_a_corrected_file_names_the_round_that_it_does_not_replace(
    project: Project, lead: User, tmp_path: Path
) -> None:
    lines = ["u1,A,r1,q,3", "u1,A,r2,q,2", "u2,A,r1,q,1"]
    first = bring(project, tmp_path / "points.csv", *lines)
    assert notices(first, "rated in an earlier round") == []
    other = bring(project, tmp_path / "others.csv", "u1,A,r3,q,3")
    assert notices(other, "rated in an earlier round") == []
    again = bring(project, tmp_path / "points.csv", *lines[:2], "u2,A,r1,q,3")
    assert notices(again, "rated in an earlier round") == ["points"]
    [notice] = [notice for notice in again if notice.kind == "rated in an earlier round"]
    assert notice.message == "It shares 2 units and 2 raters with this file. It is kept; this file becomes a new round."


def test_spellings_that_differ_in_capitals_are_one_category(project: Project, lead: User, tmp_path: Path) -> None:
    found = bring(
        project, tmp_path / "case.csv", *table(("Yes", "yes"), ("TRUE", "True"), ("No", "no"), ("Yes", "Yes"))
    )
    assert sorted(notices(found, "spellings")) == ["No, no", "TRUE, True", "Yes, yes"]
    [measure] = report(Round.objects.get())["measures"]
    assert measure["scale"] == ["No", "TRUE", "Yes"]
    assert measure["all_agree"] == {"count": 4, "of": 4}


def test_numbers_among_words_become_categories_with_a_notice(project: Project, lead: User, tmp_path: Path) -> None:
    found = bring(project, tmp_path / "mixed.csv", *table(("3", "good"), ("bad", "1e999"), ("4", "fair")))
    assert notices(found, "numbers as categories") == ["3, 4"]


def test_a_name_that_looks_like_another_one_is_noticed(project: Project, lead: User, tmp_path: Path) -> None:
    rows = [f"u{n},sysA,{rater},q,{n}" for n, rater in enumerate(("Ann", "ann", "Ann\u200b", "Bo", "Bo"))]
    found = bring(project, tmp_path / "alike.csv", *rows)
    assert notices(found, "similar name") == ["ann", "Ann\u200b"]


def test_a_name_that_looks_like_one_of_another_file_is_noticed(project: Project, lead: User, tmp_path: Path) -> None:
    sources = []
    for name, system in (("one.csv", "GPT"), ("two.csv", "gpt")):
        (tmp_path / name).write_text(f"{HEAD}\nu0,{system},{name},q,3\n", encoding="utf-8")
        sources.append(Source.of(tmp_path / name, name))
    found = check_files(project=project, format="ratings", sources=sources)
    [notice] = [
        notice for _, parsed in found.parsed for notice in parsed.notices(silent) if notice.kind == "similar name"
    ]
    assert (notice.field, notice.text) == ("system", "gpt")
    assert "of one.csv only in case" in notice.message


@pytest.mark.parametrize("error", ["#REF!", "#DIV/0!", "#VALUE!"])
def test_an_error_of_a_spreadsheet_is_a_fault_in_a_text_file_too(
    project: Project, lead: User, tmp_path: Path, error: str
) -> None:
    [fault] = checked(project, tmp_path / "error.csv", "u0,sysA,r0,q,3", f"u1,sysA,r0,q,{error}").faults
    assert (fault.line, fault.field, fault.message) == (3, "value", f"holds the error {error}; expected a value")


def test_a_second_column_of_values_is_named(project: Project, lead: User, tmp_path: Path) -> None:
    found = bring(project, tmp_path / "two.csv", "u0,sysA,r0,q,3,5", head=f"{HEAD},score")
    [notice] = [notice for notice in found if notice.kind == "column left out"]
    assert (notice.field, notice.message) == ("score", "Ignored: the column value is used instead.")


@pytest.mark.parametrize("count", [41, 1_500])
def test_too_many_criteria_are_a_fault_that_names_the_line(
    project: Project, lead: User, tmp_path: Path, count: int
) -> None:
    rows = [f"u0,sysA,r0,{chr(0x4E00 + n)}{chr(0x4E00 + n // 7)},3" for n in range(count)]
    [fault] = checked(project, tmp_path / "many.csv", *rows).faults
    assert (fault.line, fault.field, fault.message) == (42, "criterion", f"{count:,} criteria; a round has at most 40")


def test_the_import_of_two_raters_prints_their_kappa(project: Project, lead: User, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "printed.csv"
    path.write_text("\n".join((HEAD, *table(("1", "1"), ("2", "2"), ("3", "1")))) + "\n", encoding="utf-8")
    call_command("import_data", "ratings", str(path), project=project.slug, lead=lead.email)
    assert "printed, q: cohen" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["3.50", "1_0", "\u0663", " 3", "3e0", "+3"])
def test_a_slider_takes_a_number_in_its_plain_form_only(value: str) -> None:
    """Agreement compares strings, and another notation of a number would be another category."""
    content = parse(
        {
            "schema": 1,
            "kind": "rate",
            "title": "t",
            "criteria": [
                {"key": "q", "name": "Q", "scale": {"type": "slider", "minimum": 0, "maximum": 10, "step": 0.5}}
            ],
        }
    )

    def answer(value: str) -> dict[str, Any]:
        one = {"criterion": "q", "value": value, "na": False, "spans": [], "quotes": [], "reason": ""}
        return {"texts": [{"text": "A", "said": [one]}]}

    check(content, {"A": "A text."}, [], answer("3.5"))
    with pytest.raises(Refused):
        check(content, {"A": "A text."}, [], answer(value))


@pytest.mark.parametrize("value", ["x;y", "w" * 61, "many"])
def test_values_that_become_texts_are_noticed(project: Project, lead: User, tmp_path: Path, value: str) -> None:
    values = [f"value {n}" for n in range(31)] if value == "many" else [value, "z"]
    found = bring(project, tmp_path / "texts.csv", *(f"u{n},A,r1,q,{each}" for n, each in enumerate(values)))
    [notice] = [notice for notice in found if notice.kind == "read as texts"]
    assert notice.field == "Q"
    assert "Agreement is not computed for free text" in notice.message


@pytest.mark.parametrize("yes", ["true", "TRUE", "yes", "1"])
def test_an_attention_check_is_left_out_however_it_is_marked(
    project: Project, lead: User, tmp_path: Path, yes: str
) -> None:
    head = f"{HEAD},is_check,na"
    bring(
        project, tmp_path / "checks.csv", f"u1,A,r1,q,5,{yes},", "u2,A,r1,q,4,no,", f"u3,A,r1,q,,nan,{yes}", head=head
    )
    assert values() == ["", "4"]
    found = checked(project, tmp_path / "maybe.csv", "u1,A,r1,q,5,maybe,", head=head)
    assert [str(fault) for fault in found.faults] == ["maybe.csv:2: is_check: expected true or false, found 'maybe'"]


def test_a_file_names_no_more_rounds_than_are_opened_at_once(project: Project, lead: User, tmp_path: Path) -> None:
    lines = [f"u1,A,r1,q,5,round {n}" for n in range(101)]
    found = checked(project, tmp_path / "rounds.csv", *lines, head=f"{HEAD},round")
    assert [(fault.line, fault.field) for fault in found.faults] == [(102, "round")]
    assert "more than 100 rounds" in found.faults.listed[0].message


def test_a_text_is_no_longer_than_an_output(project: Project, lead: User, tmp_path: Path) -> None:
    found = checked(project, tmp_path / "long.csv", f"u1,A,r1,q,5,{'t' * 100_001}", head=f"{HEAD},summary")
    assert [str(fault) for fault in found.faults] == [
        "long.csv:2: summary: the text has 100,001 characters; at most 100,000 are allowed"
    ]


def summeval(project: Project, path: Path, *points: dict[str, Any]) -> Checked:
    lines = [
        {"id": f"d{n}", "model_id": "M", "decoded": "A text.", "expert_annotations": [each], "turker_annotations": []}
        for n, each in enumerate(points)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return check_files(project=project, format="ratings", sources=[Source.of(path, path.name)])


def test_points_of_summeval_keep_their_digits(project: Project, lead: User, tmp_path: Path) -> None:
    found = summeval(project, tmp_path / "a.jsonl", {"q": 1.23456789}, {"q": 2.0})
    import_files(project=project, format="ratings", checked=found, by=lead)
    assert values() == ["1.23456789", "2"]


@pytest.mark.parametrize(
    ("name", "message"), [("a\0b", "a NUL character"), ("\ud800", "half a surrogate"), (" ", "empty criterion name")]
)
def test_a_criterion_of_summeval_has_a_name(
    project: Project, lead: User, tmp_path: Path, name: str, message: str
) -> None:
    [fault] = summeval(project, tmp_path / "a.jsonl", {name: 1}).faults
    assert (fault.line, fault.field) == (1, "expert_annotations[0]")
    assert message in fault.message
