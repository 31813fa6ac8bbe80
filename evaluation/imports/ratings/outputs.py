"""The texts that a file of ratings brings along become imported outputs, where no run of the project holds them."""

from pathlib import PurePath

from generation.actions.brought import bring_run
from generation.models import Summary
from projects.models import Import

from .placing import Placed


def bring_outputs(imported: Import, placed: Placed) -> None:
    """A run for each system that has such texts; from here on ``placed`` has it, and the texts are its summaries."""
    stem = PurePath(imported.file_name).stem
    origin = f"Brought with the ratings of {imported.file_name}, SHA-256 {imported.sha256}"
    for system, texts in placed.unheld.items():
        units = {placed.units[key]: (key, text) for key, text in texts.items()}
        run = bring_run(
            project=imported.project, level=placed.level, name=system, texts=units,
            file=f"{stem} - {system}.jsonl"[-200:], origin=origin, by=imported.created_by,
        )  # fmt: skip
        placed.runs[system] = run
        for unit, pk, text in Summary.objects.filter(item__run=run).values_list("item__unit", "pk", "text"):
            placed.texts[system, units[unit][0]] = (pk, text)
    placed.unheld = {}
