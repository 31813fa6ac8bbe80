"""MSLR's published annotations: Cohen's kappas of the raw options, unweighted and weighted."""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from evaluation.models import Rating, RatingDesign
from evaluation.results.actions import compute_ratings
from evaluation.results.computed import stored
from projects.agreement.queries import report
from projects.models import Project, Round
from tests.evaluation.test_rating_import import FACETS

pytestmark = pytest.mark.django_db
OTHER = "Other / uncertain (please comment)"
YES = ("2: Yes", "1: Partially", "0: No", OTHER, "N/A: No such element in the target summary")
DIRECTION = ("(+1): Positive effect", "0: No effect", "(-1): Negative effect", "N/A: no claim of an effect")
STRENGTH = (
    "3: Strong claim",
    "2: Moderate claim",
    "1: Weak claim",
    "0: Not enough evidence",
    "(+1): Positive effect",
    OTHER,
)
#: Options of each question, and the column after which a comment comes.
OPTIONS = {
    "fluency": ("2: Yes--there are no errors", "1: Somewhat, there are errors", "0: No", OTHER),
    "population": YES,
    "intervention": YES,
    "outcome": (*YES, "N/A: No outcome in generated summary"),
    "direction-target": DIRECTION,
    "direction-generated": (*DIRECTION, OTHER),
    "strength-target": STRENGTH,
    "strength-generated": STRENGTH,
}
COMMENTS = ("outcome", "direction-generated", "strength-generated")


def said_by(rater: int, item: int, question: int) -> str:
    """Return a second rater's value: often the same, sometimes another, rarely none."""
    options = list(OPTIONS.values())[question]
    mixed = (item * 7 + question * 5) % 11
    if rater and mixed in (3, 8):
        return options[(item + question + 1) % len(options)]
    return "" if rater == 0 and mixed == 10 and item % 5 == 0 else options[(item * 3 + question) % len(options)]


def published(folder: Path, rater: int, name: str) -> Path:
    """Return a file as spreadsheets export it: tabs, and quotation marks that enclose no field."""
    lines = ["\t".join(FACETS)]
    for item in range(60):
        unit, system = divmod(item, 6)
        texts = [
            f"CD{unit:06d}",
            f"S{system}",
            '"Drug A" lowered pain, the trials say.',
            f'"Drug A" helped {item}% of "them"',
        ]
        cells = [texts[1], texts[0], *texts[2:]]
        for question, key in enumerate(OPTIONS):
            cells.append(said_by(rater, item, question))
            if key in COMMENTS:
                cells.append('"so" it seems' if item == 4 else "")
        lines.append("\t".join(cells))
    path = folder / f"Annotations - {name}.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def kappa(pairs: list[tuple[Any, Any]], weight: Any = lambda a, b: float(a == b)) -> float:
    """Cohen's kappa by its definition."""
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    observed = sum(weight(a, b) for a, b in pairs) / n
    expected = sum(weight(a, b) * first[a] * second[b] for a, b in itertools.product(first, second)) / n**2
    return float((observed - expected) / (1 - expected))


def raw_pairs(question: int) -> list[tuple[str, str]]:
    both = [(said_by(0, item, question), said_by(1, item, question)) for item in range(60)]
    return [(a, b) for a, b in both if a and b]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [str(published(tmp_path, n, name)) for n, name in enumerate(("Ada", "Bo"))]


def test_unweighted_kappas_are_those_of_the_raw_options(
    project: Project, lead: User, files: list[str], capsys: Any
) -> None:
    call_command("import_data", "ratings", *files, project=project.slug, lead=lead.email)
    printed = capsys.readouterr().out
    [round] = Round.objects.filter(project=project)
    measures = {measure["name"]: measure for measure in report(round)["measures"]}
    assert list(measures) == list(OPTIONS)
    for question, (name, measure) in enumerate(measures.items()):
        form = measure.get("unweighted", measure)
        [pair] = form["coefficients"]["cohen_pairs"]
        assert pair["value"] == pytest.approx(kappa(raw_pairs(question))), name
        assert pair["units"] == len(raw_pairs(question))
        value = f"{pair['value']:.3f}, n = {pair['units']}"
        assert any(f", {name}: cohen" in line and value in line for line in printed.splitlines()), name


def test_the_report_has_the_weighted_kappa_and_says_which_to_cite(
    project: Project, lead: User, files: list[str], capsys: Any
) -> None:
    call_command("import_data", "ratings", *files, project=project.slug, lead=lead.email)
    measures = {measure["name"]: measure for measure in report(Round.objects.get())["measures"]}

    def point(option: str) -> int | None:
        return int(option[0]) if option[:1].isdigit() else None

    for question, name in enumerate(OPTIONS):
        measure = measures[name]
        if name.startswith("direction"):
            assert "unweighted" not in measure
            continue
        on_scale = [
            (a, b) for x, y in raw_pairs(question) if (a := point(x)) is not None and (b := point(y)) is not None
        ]
        most = max(point(option) or 0 for option in OPTIONS[name])
        [pair] = measure["coefficients"]["cohen_pairs"]
        expected = kappa(on_scale, lambda a, b, most=most: 1 - ((a - b) / most) ** 2)
        assert (pair["value"], pair["units"]) == (pytest.approx(expected), len(on_scale))
        assert (measure["weights"], measure["cite_form"]) == ("quadratic", "unweighted")
    assert "weighted (quadratic)" in capsys.readouterr().out


def test_options_off_the_scale_are_kept_and_excluded_from_means(project: Project, lead: User, files: list[str]) -> None:
    call_command("import_data", "ratings", *files, project=project.slug, lead=lead.email)
    values = set(Rating.objects.filter(criterion="outcome").values_list("value", flat=True))
    assert values == {"0", "1", "2", *OPTIONS["outcome"][3:]}
    compute_ratings(design=RatingDesign.objects.get(), replicates=0)
    found = stored(RatingDesign.objects.get())
    assert found
    outcome = next(each for each in found.figures["all"]["criteria"] if each["criterion"] == "outcome")
    for row in outcome["systems"]:
        assert set(row["counts"]) == {"0", "1", "2"}
        assert row["value"] is None or 0 <= row["value"] <= 2
    assert sum(row["na"] for row in outcome["systems"]) > 0
    assert {d["criterion"] for d in found.figures["directions"]} <= {"direction-generated"}
