"""The methods text of releases, of the page and of the command: same bytes, blind, without texts, and only for some."""

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from evaluation.judge_figures.queries import basis_of
from evaluation.models import Judge, JudgeAnswer, JudgeFigures, JudgeRun, RatingDesign, RatingPage
from evaluation.unblinding.actions import unblind
from generation.models import Embargo
from measures.judges import RULE
from projects.jobs.running import run_job
from projects.models import Job, Project, Round
from projects.people.actions import change_project
from projects.rounds.actions import close_round
from releases.folders.folder import read
from releases.methods.facts.study import study_facts
from releases.publishing.actions import write_release
from releases.sources.options import ReleaseOptions
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.evaluation.rating_rounds import GUIDELINE, SYSTEMS, build_runs, open_rating, rate_all
from tests.generation.builders import build_run, build_version

pytestmark = pytest.mark.django_db
PAGE = "/api/v1/projects/eye/methods/"


@pytest.fixture(autouse=True)
def without_snapshots() -> Iterator[None]:
    """A snapshot needs its own transaction, and a test already is in one."""
    with (
        patch("releases.publishing.actions.snapshot", nullcontext),
        patch("releases.sources.state.snapshot", nullcontext),
    ):
        yield


def released(project: Project, out: Path, **options: object) -> dict[str, str]:
    write_release(project=project, version="1.0.0", out=out, options=ReleaseOptions(**options))  # type: ignore[arg-type]
    assert {"methods.md", "methods.tex"} <= {entry.path for entry in read(out).entries}
    return {name: (out / name).read_text(encoding="utf-8") for name in ("methods.md", "methods.tex", "datasheet.md")}


def rated(project: Project, people: list[User]) -> Round:
    round = open_rating(project, [project.members.get(user=user) for user in people], build_runs(project), GUIDELINE)
    for user in people:
        rate_all(user, round)
    return round


def told(round: Round) -> None:
    close_round(round=round, by=None)
    unblind(design=RatingDesign.objects.get(round=round), by=round.project.members.get(role="lead").user)


def written(client: APIClient) -> dict[str, object]:
    """Write the text as a worker does, and return the reply of the page."""
    job = client.post(PAGE)
    assert job.status_code == 202, job.content
    run_job(job.json()["id"])
    assert Job.objects.get(pk=job.json()["id"]).status == "done"
    reply: dict[str, object] = client.get(PAGE).json()
    return reply


def test_two_releases_of_one_state_have_the_same_text_and_no_text_of_a_source(project: Project, tmp_path: Path) -> None:
    target, given = "The review shows that nepralin reduces relapse.", "Nepralin had no effect at all in this study."
    import_records(project, write(tmp_path / "a.jsonl", [cluster(target_text=target, studies=[source(given)])]))
    first, second = released(project, tmp_path / "1"), released(project, tmp_path / "2")
    assert first == second
    assert "1 cluster with 2 propositions (1 of reviews and 1 of studies)" in first["methods.md"]
    assert "This text belongs to release 1.0.0." in first["methods.md"]
    levels = "1 target of level proposition with 1 input, from 1 review and 1 study"
    assert all(levels in first[name] for name in ("methods.md", "datasheet.md"))
    without = released(project, tmp_path / "3", without=["texts"])
    assert "The release contains no texts of its sources" in without["methods.md"]
    for file in (first, without):
        assert not any(text in file[name] for text in (target, given) for name in ("methods.md", "methods.tex"))


def test_a_rating_round_has_the_same_paragraph_and_numbers_in_all_files(
    project: Project, evaluator: User, ann1: User, tmp_path: Path
) -> None:
    told(rated(project, [evaluator, ann1]))
    text = released(project, tmp_path / "r")["methods.md"]
    beginning = "2 raters judged the texts of 4 systems (Alder, Birch, Cedar and Dogwood) for 4 sources on 4 pages"
    [paragraph] = [line for line in text.splitlines() if beginning in line]
    assert paragraph in (tmp_path / "r" / "ratings" / "methods.md").read_text(encoding="utf-8").splitlines()
    sheet = (tmp_path / "r" / "heds3.md").read_text(encoding="utf-8")
    [rating] = study_facts(project).ratings
    assert f"* 3.2.1 Number of evaluators: {rating.raters}\n" in sheet
    assert "* 3.1.1 Number of outputs per system: 4 for each of 4 systems\n" in sheet
    [agreement] = [line for line in sheet.splitlines() if "4.3.11" in line and "coherence" in line]
    assert agreement.partition(": ")[2] in paragraph
    assert "There were no attention checks. No exclusions were declared." in sheet
    assert "Alder, version 1" in text


@pytest.mark.parametrize("closed", [False, True])
def test_before_unblinding_no_system_of_the_round_is_named(
    project: Project, evaluator: User, tmp_path: Path, closed: bool
) -> None:
    round = rated(project, [evaluator])
    if closed:
        close_round(round=round, by=None)
    text = "".join(released(project, tmp_path / "r").values())
    assert "is not closed and unblinded yet" in text
    secrets = [*SYSTEMS, str(round.seed), RatingDesign.objects.get().secret]
    assert not [word for word in secrets if word in text]


def test_leads_and_curators_read_the_page_and_it_says_when_it_is_outdated(
    project: Project, lead: User, ann1: User, client_of: Callable[[User], APIClient], tmp_path: Path
) -> None:
    assert client_of(ann1).get(PAGE).status_code == client_of(ann1).post(PAGE).status_code == 403
    client = client_of(lead)
    assert client.get(PAGE).json() == {"text": None, "as_of": None, "is_current": False, "job": None}
    reply = written(client)
    assert reply["is_current"] is True
    text = reply["text"]
    assert isinstance(text, dict)
    assert text["gaps"][0] == {"section": "Data set", "what": "Description of the data set", "page": "settings"}
    assert text["markdown"].startswith("# Methods of Eye\n")
    change_project(project=project, by=lead, description="Eyes & ears.")
    assert client.get(PAGE).json()["is_current"] is False
    again = written(client)["text"]
    assert isinstance(again, dict)
    assert r"Eyes \& ears." in again["latex"]
    with CaptureQueriesContext(connection) as few:
        client.get(PAGE)
    import_records(project, write(tmp_path / "a.jsonl", [cluster("26258610_0"), cluster("26258610_1")]))
    with CaptureQueriesContext(connection) as more:
        client.get(PAGE)
    assert len(few) == len(more)


def test_a_stored_text_is_hidden_once_a_run_is(
    project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    [run, *_] = build_runs(project)
    assert written(client_of(lead))["text"]
    Embargo.objects.create(run=run, member=project.members.get(user=lead))
    assert client_of(lead).get(PAGE).json()["text"] is None


def build_judging(project: Project, round: Round) -> None:
    """A judge answered each page but one, and one attempt was invalid."""
    design = RatingDesign.objects.get(round=round)
    judge = Judge.objects.create(
        project=project,
        name="Judge",
        number=1,
        model="gpt-oss",
        family="GPT",
        prompt={"extra": "Be strict.", "reasons": True},
        decoding={"temperature": 0.0},
        facts={},
        digest="a" * 64,
    )
    pages = RatingPage.objects.filter(source__design=design)
    run = JudgeRun.objects.create(
        judge=judge,
        design=design,
        both_orders=False,
        requests_count=pages.count(),
        host="api.example.org",
        is_outside=True,
        salt="s",
        state="done",
        finished_at=timezone.now(),
    )
    for n, page in enumerate(pages):
        JudgeAnswer.objects.create(
            run=run, page=page, texts=[], is_valid=n > 0, attempts=1, invalid_count=n == 0, tokens_in=10, tokens_out=2
        )
    figures = json.dumps(
        {
            "criteria": [
                {"sentence": "Judge v1 may not replace a rater.", "criterion": "fluency", "kind": "mean", "systems": []}
            ]
        }
    )
    JudgeFigures.objects.create(
        run=run, group="skilled", rule=RULE, basis=basis_of(run), figures=figures, made_at=timezone.now()
    )


def test_a_judge_is_described_but_not_to_people_who_rate_now(
    project: Project, lead: User, evaluator: User, client_of: Callable[[User], APIClient]
) -> None:
    round = rated(project, [evaluator])
    told(round)
    build_judging(project, round)
    text = written(client_of(lead))["text"]
    assert isinstance(text, dict)
    [said] = ["\n".join(each["paragraphs"]) for each in text["sections"] if each["title"] == "Models as judges"]
    for sentence in (
        "The judge “Judge”, version 1 (digest aaaaaaaaaaaa; model gpt-oss; family GPT), rated the pages of the round",
        "The model ran at api.example.org, outside the server.",
        "which raters did not see: “Be strict.”.",
        "It was asked for 4 answers, with 1 sample per page; 3 of 4 answers (75.0%) were valid.",
        "1 attempt was invalid; invalid answers were repeated and never repaired. 1 answer stayed without a valid",
        "It read 40 tokens and wrote 8. Judge v1 may not replace a rater.",
    ):
        assert sentence in said
    # The lead rates other systems now. The text is written again, because their runs are hidden from the lead.
    units = list(project.clusters.values_list("unit", flat=True))
    runs = [build_run(build_version(project, name), dict.fromkeys(units, f"{name} helps.")) for name in ("Elm", "Fir")]
    open_rating(project, [project.members.get(user=lead)], runs, GUIDELINE, name="more")
    assert client_of(lead).get(PAGE).json()["text"] is None
    shown = written(client_of(lead))["text"]
    assert "Human ratings" in json.dumps(shown)
    assert "judge “" not in json.dumps(shown, ensure_ascii=False).casefold()


def test_the_command_prints_every_form(project: Project) -> None:
    out = {}
    for form in ("markdown", "latex", "json"):
        call_command("methods", project="eye", format=form, stdout=(to := StringIO()))
        out[form] = to.getvalue()
    assert out["markdown"].startswith("# Methods of Eye\n")
    assert r"\section*{Methods of Eye}" in out["latex"]
    content = json.loads(out["json"])
    assert content["facts"]["stated"]["title"] == "Eye"
    assert content["sections"][0]["title"] == "Data set"
