"""Names in rating files identify raters and systems, and duplicate ratings are reported."""

import unicodedata
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from annotation.imports.actions import Checked, check_files, import_files
from audit.verify import findings
from evaluation.models import ComparedSystem, Protocol, ProtocolVersion, Rating, RatingDesign, RatingSource
from evaluation.results.rating_rows import RoundRatings
from projects.models import Answer, Import, Member, Project, Round, Unit
from projects.uploads.files import Source

pytestmark = pytest.mark.django_db
HEAD = "unit,system,rater,criterion,value,summary"


def checked(project: Project, path: Path, *lines: str, head: str = HEAD) -> Checked:
    path.write_text("\n".join((head, *lines)) + "\n", encoding="utf-8")
    return check_files(project=project, format="ratings", sources=[Source.of(path, path.name)])


def bring(project: Project, path: Path, *lines: str, head: str = HEAD) -> list[Import]:
    found = checked(project, path, *lines, head=head)
    return import_files(project=project, format="ratings", checked=found, by=project.members.get(role="lead").user)


def faults(found: Checked) -> list[tuple[int, str]]:
    return [(fault.line, fault.field) for fault in found.faults]


def means() -> dict[str, float]:
    """Return means by the full name of the criterion."""
    design = RatingDesign.objects.get()
    of: dict[str, list[float]] = {}
    names = {each["key"]: each["name"] for each in design.version.content["criteria"]}
    for each in RoundRatings(design).judgements:
        of.setdefault(names[each.criterion], []).append(float(each.value or 0))
    return {name: sum(values) / len(values) for name, values in of.items()}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("How well does the summary cover the population?", "How well does the summary cover the outcome?"),
        ("忠実性", "流暢性"),
        ("Is it true?", "Is it true!"),
        ("x" * 150 + " one", "x" * 150 + " two"),
    ],
)
def test_criteria_with_colliding_keys_stay_separate(
    project: Project, lead: User, tmp_path: Path, first: str, second: str
) -> None:
    rows = [
        f"u{n},sysA,{rater},{name},{value},Text {n}"
        for n in range(3)
        for rater in ("r1", "r2")
        for name, value in ((first, 5), (second, 1))
    ]
    bring(project, tmp_path / "points.csv", *rows)
    assert means() == {first[:1].upper() + first[1:]: 5, second[:1].upper() + second[1:]: 1}


def test_units_that_share_sixty_letters_are_two_sources(project: Project, lead: User, tmp_path: Path) -> None:
    units = ["a long name of a unit " * 5 + end for end in ("one", "two")]
    bring(project, tmp_path / "points.csv", *(f"{unit},sysA,r1,quality,3,T" for unit in units))
    assert set(RatingSource.objects.values_list("review", flat=True)) == set(units)


def test_raters_named_by_files_whose_names_are_long_stay_two(project: Project, lead: User, tmp_path: Path) -> None:
    raters = ["rater " * 20 + end for end in ("one", "two")]
    bring(project, tmp_path / "points.csv", *(f"u1,sysA,{rater},quality,3,T" for rater in raters))
    assert set(Member.objects.filter(user=None).values_list("rater", flat=True)) == set(raters)


@pytest.mark.parametrize(("field", "most"), [("unit", 200), ("system", 120), ("rater", 200), ("criterion", 200)])
def test_a_name_that_is_too_long_is_a_fault_and_is_not_cut(
    project: Project, lead: User, tmp_path: Path, field: str, most: int
) -> None:
    row = {"unit": "u", "system": "s", "rater": "r", "criterion": "c"} | {field: "x" * (most + 1)}
    found = checked(project, tmp_path / "points.csv", ",".join(row.values()) + ",3,T")
    assert faults(found) == [(2, field)]


@pytest.mark.parametrize(("place", "kind"), [(0, "unit"), (1, "system"), (2, "rater"), (3, "criterion")])
def test_names_differing_in_unicode_form_only_are_equal_with_a_notice(
    project: Project, lead: User, tmp_path: Path, place: int, kind: str
) -> None:
    rows = []
    for n, form in enumerate(("NFC", "NFD", "NFD")):
        cells = [f"u{n}", f"s{n}", f"r{n}", f"c{n}"]
        cells[place] = unicodedata.normalize(form, "José")  # type: ignore[arg-type] # a literal in the loop
        rows.append(",".join(cells) + (" " if n == 2 and place == 3 else "") + ",3,T" + str(n if place else ""))
    [imported] = bring(project, tmp_path / "points.csv", *rows)
    counts = {
        "unit": RatingSource.objects.count(),
        "system": ComparedSystem.objects.count(),
        "rater": Member.objects.filter(user=None).count(),
        "criterion": len(ProtocolVersion.objects.get().content["criteria"]),
    }
    assert counts == dict.fromkeys(counts, 3) | {kind: 1}
    assert imported.report["totals"]["same name"] == 1


def test_units_of_the_project_are_found_in_either_unicode_form(project: Project, lead: User, tmp_path: Path) -> None:
    for n, form in enumerate(("NFC", "NFD")):
        bring(project, tmp_path / f"{n}.csv", unicodedata.normalize(form, "José") + f",s,r,c,{n},T")  # type: ignore[arg-type]
    assert Unit.objects.filter(type="rated source").count() == 1


def test_the_same_rating_twice_counts_once_and_is_reported(project: Project, lead: User, tmp_path: Path) -> None:
    rows = ("u1,sysA,r1,coherence,3,T1", "u1,sysA,r1,coherence,3,T1", "u2,sysA,r1,coherence,4,T2")
    [imported] = bring(project, tmp_path / "twice.csv", *rows)
    assert (Rating.objects.count(), imported.report["totals"]["given twice"]) == (2, 1)
    [notice] = [one for one in imported.warnings.values() if one["kind"] == "given twice"]
    assert (notice["item"], notice["message"]) == ("line 3", "Duplicate of line 2; imported once.")


def test_the_same_rating_with_two_values_is_a_fault_unless_the_file_says_it_is_a_repeat(
    project: Project, lead: User, tmp_path: Path
) -> None:
    rows = ("u1,sysA,r1,coherence,3,T1", "u1,sysA,r1,coherence,5,T1", "u2,sysA,r1,coherence,4,T2")
    found = checked(project, tmp_path / "two.csv", *rows)
    assert faults(found) == [(3, "value")]
    assert "r1 rated sysA for u1 '3' there and '5' here" in found.faults.listed[0].message
    numbered = [f"{row},{n}" for row, n in zip(rows, (1, 2, 1), strict=True)]
    bring(project, tmp_path / "repeat.csv", *numbered, head=f"{HEAD},repeat")
    again = Answer.objects.order_by("assignment__position", "assignment__repeat")
    assert list(again.values_list("assignment__repeat", "ratings__value")) == [(0, "3"), (1, "5"), (0, "4")]


def test_a_file_whose_name_is_long_is_imported_under_a_protocol_of_its_name(
    project: Project, lead: User, tmp_path: Path
) -> None:
    bring(project, tmp_path / f"{'n' * 110}.csv", "u1,sysA,r1,coherence,3,T1")
    assert (len(Protocol.objects.get().name), len(Round.objects.get().name)) == (80, 74)


def test_a_thousand_raters_are_stored_without_accounts_by_a_fixed_number_of_statements(
    project: Project, lead: User, tmp_path: Path
) -> None:
    """On SQLite nobody else can write meanwhile."""
    accounts, counts = User.objects.count(), []
    for name, raters in (("few", 10), ("many", 1_000)):
        rows = [f"u{n % 20},sysA,{name} {n},coherence,{n % 5},T{n % 20}" for n in range(raters)]
        found = checked(project, tmp_path / f"{name}.csv", *rows)
        with CaptureQueriesContext(connection) as queries:
            import_files(project=project, format="ratings", checked=found, by=lead)
        counts.append(len(queries))
    assert counts[1] <= counts[0] + 10
    assert (Member.objects.filter(user=None).count(), User.objects.count()) == (1_010, accounts)
    assert Answer.objects.count() == 1_010
    assert list(findings()) == []


def test_a_file_of_more_than_a_thousand_raters_is_refused(project: Project, lead: User, tmp_path: Path) -> None:
    rows = [f"u1,sysA,rater {n},coherence,3,T" for n in range(1_001)]
    found = checked(project, tmp_path / "crowd.csv", *rows)
    assert faults(found) == [(1002, "rater")]
    assert found.faults.listed[0].message == "the file has more than 1,000 raters; split it into several files"
