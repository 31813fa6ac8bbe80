"""A progress bar on a terminal for commands whose work reports its progress."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from ..jobs.batches import Progress, silent


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Yield a callback that shows a bar on stderr, if that is a terminal. Each new note starts the bar again."""
    if not sys.stderr.isatty():
        yield silent
        return
    with tqdm(total=None, unit="", unit_scale=True, leave=False) as bar:
        current_note = ""

        def progress(done: int, total: int | None, note: str) -> None:
            nonlocal current_note
            if note != current_note:
                bar.reset(total)
                bar.set_description(note)
                current_note = note
            bar.total = total
            bar.update(done - bar.n)

        yield progress
