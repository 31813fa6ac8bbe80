"""A chat model on the server as a judge: its version, and pages that do not fit its window or get no valid answer."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from accounts.models import User
from evaluation.judging import versions
from evaluation.judging.asking import LocalJudge
from evaluation.models import Judge
from generation.backends.protocol import Output, Source
from projects.jobs.running import run_job
from projects.models import Job, Project
from tests.evaluation.judge_endpoint import answer_of
from tests.evaluation.judge_runs import judged
from tests.evaluation.rating_rounds import build_runs, open_rating
from tests.generation.tiny_models import models as models
from tests.generation.tiny_models import models_folder as models_folder

pytestmark = pytest.mark.django_db


@pytest.fixture
def build(project: Project, models: Callable[[str], str], models_folder: Path) -> Callable[[int], Judge]:
    """``build(window)`` returns a judge that is a real chat model with random weights."""

    def built(window: int) -> Judge:
        name = f"judge-{window}"
        if not (models_folder / name).is_dir():
            shutil.copytree(models_folder / models("llama"), models_folder / name)
            config = models_folder / name / "config.json"
            config.write_text(json.dumps(json.loads(config.read_text()) | {"max_position_embeddings": window}))
        decoding = {"max_tokens": 20, "retries": 1}
        job = versions.request_judge(project=project, name="Local", model=name, decoding=decoding, by=None)
        assert isinstance(job, Job)
        run_job(job.pk)
        job.refresh_from_db()
        assert job.status == "done", job.error
        return Judge.objects.get(pk=(job.result or {})["judge"])

    return built


def test_invalid_replies_of_a_chat_model_are_repeated_and_counted(
    build: Callable[[int], Judge], project: Project, evaluator: User
) -> None:
    judge = build(16_384)
    assert any(len(str(value)) >= 64 for value in judge.facts.values()), "the weights are hashed"
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project, 1))
    run = judged(judge, round, licence_reason="")
    assert (run.state, run.error) == ("done", "")
    assert (run.is_outside, run.host) == (False, "")
    [answer] = run.answers.all()
    assert (answer.is_valid, answer.attempts, len(answer.invalid)) == (False, 2, 2)
    assert answer.tokens_out > 0
    assert answer.raw
    assert not answer.ratings.exists()


def test_a_page_that_does_not_fit_the_window_fails_with_the_reason(
    build: Callable[[int], Judge], project: Project, evaluator: User
) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project, 1))
    run = judged(build(256), round, licence_reason="")
    assert run.state == "done"
    [answer] = run.answers.all()
    assert not answer.is_valid
    assert answer.error.endswith("there is room for 236.")


def test_answers_are_repeated_in_groups(
    build: Callable[[int], Judge], project: Project, evaluator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is replaced by one that is wrong first: a tiny model never writes JSON."""
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project, 3))

    class Model:
        def __init__(self, system: str) -> None:
            self.system, self.calls = system, 0

        def summarise(self, sources: Sequence[Source]) -> Iterator[list[Any]]:
            self.calls += 1
            for source in sources:
                body = {"messages": [{"content": self.system}, {"content": source.inputs[0].text}]}
                text = json.dumps(answer_of(body)) if self.calls > 1 or source.unit == 0 else "No."
                yield [Output(source.unit, text, tokens_in=10, tokens_out=5)]

    loaded: list[Model] = []

    def load(run: Any) -> LocalJudge:
        loaded.append(Model(run.system_message))
        return LocalJudge(versions.settings_of(run), loaded[0])  # type: ignore[arg-type]

    monkeypatch.setattr(versions, "load", load)
    run = judged(build(256), round)
    assert run.state == "done"
    assert loaded[0].calls == 2
    assert sorted(run.answers.values_list("is_valid", "attempts", "tokens_out")) == [
        (True, 1, 5),
        (True, 2, 10),
        (True, 2, 10),
    ]
