"""Work done by the command that asked for it, beside whatever workers there are, while a person may watch."""

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Never

from django.db import connection
from django.utils import timezone
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from projects.background import jobs
from projects.background.progress import Progress
from projects.background.waiting import claimable

from ..actions.lanes import active_chunks
from ..actions.runs import stop_run
from ..models import ItemStatus, Run, RunStatus
from ..pages.progress import RunProgress, progress_of

#: Seconds between looks at a run whose chunks are all in other hands, and between moves of the progress bar.
LOOK = 0.5
#: As other programs say that Ctrl-C ended them.
STOPPED = 130


@contextmanager
def progress_bar(**options: Any) -> Iterator["tqdm[Never]"]:
    """A bar on the error stream where a person watches, nothing in a pipe.

    Beside a bar only what is amiss is logged, on lines above it: it shows itself that work begins and ends.
    """
    with tqdm(disable=None, leave=False, file=sys.stderr, **options) as bar:
        if bar.disable:
            yield bar
            return
        with logging_redirect_tqdm():
            for handler in logging.root.handlers:
                handler.setLevel(max(handler.level, logging.WARNING))
            yield bar


@contextmanager
def stoppable(how_to_go_on: str) -> Iterator[None]:
    """Ctrl-C ends the command with two words on how to go on, and no traceback."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"Stopped. {how_to_go_on}\n")
        sys.exit(STOPPED)


def do_run(run: Run) -> bool:
    """Do the chunks of a run until it ends, the way workers do; with a progress bar where a person watches.

    False where Ctrl-C stopped it: the batch under way is finished and stored first. Ctrl-C again breaks off, and
    another worker can go on when the lease of the chunk has lapsed.
    """
    ended, asked = threading.Event(), threading.Event()
    with _asking(asked), _beside(run, ended, asked):
        try:
            while Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).exists():
                due = active_chunks(run).filter(claimable(timezone.now())).order_by("pk")
                if (pk := due.values_list("pk", flat=True).first()) is None or not jobs.run_job(pk):
                    ended.wait(LOOK)
        finally:
            ended.set()
    run.refresh_from_db()
    return not asked.is_set()


@contextmanager
def checking(name: str) -> Iterator[Progress]:
    """A progress bar over the bytes of a file, where a person watches."""
    with progress_bar(desc=name, unit="B", unit_scale=True) as bar:

        def progress(done: int, total: int | None, note: str) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress


@contextmanager
def _asking(asked: threading.Event) -> Iterator[None]:
    """The first Ctrl-C asks; the second does what it always did."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _beside(run: Run, ended: threading.Event, asked: threading.Event) -> Iterator[None]:
    """A thread that shows the progress and stops the run when asked: the main one is busy in a chunk."""
    past = run.items.exclude(status=ItemStatus.WAITING).count()
    with progress_bar(total=progress_of(run).total, initial=past, unit=" items") as bar:

        def watch() -> None:
            said = stopped = False
            while not ended.wait(LOOK):
                try:
                    if asked.is_set() and not said:
                        bar.write("Stopping after the batch under way; Ctrl-C again breaks it off.", sys.stderr)
                        said = True
                    if asked.is_set() and not stopped:
                        stop_run(run=run, by=run.started_by)
                        stopped = True
                    if not bar.disable:
                        _show(bar, progress_of(run))
                except Exception as error:
                    bar.set_description(f"{type(error).__name__}; trying again")
                finally:
                    connection.close()

        thread = threading.Thread(target=watch, daemon=True, name=f"progress-of-run-{run.pk}")
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(timeout=10)


def _show(bar: "tqdm[Never]", progress: RunProgress) -> None:
    failed = f", {progress.failed} failed" if progress.failed else ""
    bar.set_description(f"{progress.note or progress.state}{failed}")
    bar.update(progress.done + progress.failed - bar.n)
