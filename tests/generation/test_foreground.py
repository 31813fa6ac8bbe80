"""Work in the foreground: the progress bar, and instructions after Ctrl-C."""

import io
import logging
import sys

import pytest
from django.core.management import call_command

from generation.management import foreground
from generation.management.commands import generate, score, tables
from projects.models import Project
from tests.builders import build_cluster
from tests.generation.summaries import build_run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> list[str]:
    """Return the lines on the terminal without what was overwritten."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(logging.root, "handlers", [logging.StreamHandler(stream)])
    monkeypatch.setattr(logging.root, "level", logging.INFO)
    before = list(logging.root.handlers)
    with foreground.progress_bar(total=2, unit=" items", ncols=60) as bar:
        bar.update()
        logging.getLogger("projects.jobs.jobs").info("job begins")
        logging.getLogger("projects.jobs.jobs").warning("taken over")
    assert logging.root.handlers == before
    return [line.rpartition("\r")[2].strip() for line in stream.getvalue().split("\n")]


def test_warnings_stand_on_lines_of_their_own_above_a_bar_that_vanishes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    assert shown(monkeypatch, terminal) == ["taken over", ""]
    assert "0/2" in terminal.getvalue()


def test_output_to_a_pipe_has_log_lines_and_no_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, io.StringIO()) == ["job begins", "taken over", ""]


@pytest.mark.parametrize(
    ("module", "what", "arguments", "said"),
    [
        (
            generate,
            "process_run",
            ["generate", "--system", "Lead-3", "--level", "proposition"],
            "The same command resumes the run; ",
        ),
        (score, "score_run", ["score"], "Scores so far are stored; the same command computes the rest."),
        (tables, "Tables", ["tables"], "No table was written."),
    ],
)
def test_ctrl_c_is_answered_by_how_to_go_on(
    module: object,
    what: str,
    arguments: list[str],
    said: str,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    build_cluster(project)
    build_run(project)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, what, interrupted)
    with pytest.raises(SystemExit) as ended:
        call_command(*arguments, "--project", "eye")
    assert ended.value.code == 130
    assert f"Stopped. {said}" in capsys.readouterr().err
