"""Run work in the foreground of a command, beside the workers, with a progress bar on a terminal."""

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

from projects.jobs.batches import Progress
from projects.jobs.queries import claimable
from projects.jobs.running import run_job

from ..models import ItemStatus, Run, RunStatus
from ..runs.actions import stop_run
from ..runs.concurrency import active_chunks
from ..runs.queries import RunProgress, progress_of

#: Seconds between polls of a run whose chunks are leased by others, and between updates of the progress bar.
POLL_SECONDS = 0.5
#: The conventional exit status after Ctrl-C.
STOPPED = 130


@contextmanager
def progress_bar(**options: Any) -> Iterator["tqdm[Never]"]:
    """Yield a progress bar on stderr, disabled unless stderr is a terminal.

    With a bar, only warnings and errors are logged, above the bar. The bar itself shows the start and end of work.
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
def stoppable(hint: str) -> Iterator[None]:
    """On Ctrl-C, exit with a message on how to resume, and without a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"Stopped. {hint}\n")
        sys.exit(STOPPED)


def process_run(run: Run) -> bool:
    """Process the chunks of a run until it ends, as a worker does. Show a progress bar on a terminal.

    Return False if Ctrl-C stopped the run. The first Ctrl-C finishes and stores the current batch. A second one aborts;
    another worker can continue when the lease of the chunk has expired.
    """
    ended, stop_requested = threading.Event(), threading.Event()
    with _handle_interrupt(stop_requested), _watch_run(run, ended, stop_requested):
        try:
            while Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).exists():
                due = active_chunks(run).filter(claimable(timezone.now())).order_by("pk")
                if (pk := due.values_list("pk", flat=True).first()) is None or not run_job(pk):
                    ended.wait(POLL_SECONDS)
        finally:
            ended.set()
    run.refresh_from_db()
    return not stop_requested.is_set()


@contextmanager
def checking(name: str) -> Iterator[Progress]:
    """Yield a progress callback that shows a bar of the bytes of a file, on a terminal."""
    with progress_bar(desc=name, unit="B", unit_scale=True) as bar:

        def progress(done: int, total: int | None, note: str) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress


@contextmanager
def _handle_interrupt(stop_requested: threading.Event) -> Iterator[None]:
    """Handle the first Ctrl-C as a request to stop, and restore the previous handler for the second one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def request_stop(number: int, frame: FrameType | None) -> None:
        stop_requested.set()
        signal.signal(signal.SIGINT, previous)

    previous = signal.signal(signal.SIGINT, request_stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def _watch_run(run: Run, ended: threading.Event, stop_requested: threading.Event) -> Iterator[None]:
    """Show the progress and handle the stop request in a thread, because the main thread is busy with a chunk."""
    finished = run.items.exclude(status=ItemStatus.WAITING).count()
    with progress_bar(total=progress_of(run).total, initial=finished, unit=" items") as bar:

        def watch() -> None:
            is_announced = is_stopped = False
            while not ended.wait(POLL_SECONDS):
                try:
                    if stop_requested.is_set() and not is_announced:
                        bar.write("Stopping after the current batch; press Ctrl-C again to abort.", sys.stderr)
                        is_announced = True
                    if stop_requested.is_set() and not is_stopped:
                        stop_run(run=run, by=run.started_by)
                        is_stopped = True
                    if not bar.disable:
                        _update_bar(bar, progress_of(run))
                except Exception as error:
                    bar.set_description(f"{type(error).__name__}; retrying")
                finally:
                    connection.close()

        thread = threading.Thread(target=watch, daemon=True, name=f"progress-of-run-{run.pk}")
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(timeout=10)


def _update_bar(bar: "tqdm[Never]", progress: RunProgress) -> None:
    failed = f", {progress.failed} failed" if progress.failed else ""
    bar.set_description(f"{progress.note or progress.state}{failed}")
    bar.update(progress.done + progress.failed - bar.n)
