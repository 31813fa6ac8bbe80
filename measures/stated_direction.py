"""Compare outputs that name a direction with the directions of their targets: MS^2's table-to-table task.

Source: DeYoung et al., MS^2 (EMNLP 2021), Table 6, and its ``f1_scorer``. An output counts as a direction if it is one
of ``MS2_CLASSES``; case and blanks at the ends are ignored. Any other output is counted as ``OTHER`` ("broken
generation" in the program): a miss for the direction of its target.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from .agreement.gold import class_scores
from .clustered import FloatArray, estimate
from .direction import CLASSES, MS2_CLASSES
from .means import FROM_0_TO_1

OTHER = "other"
OUTPUTS = (*CLASSES, OTHER)
CELLS = tuple(f"{target}/{output}" for target in CLASSES for output in OUTPUTS)
"""Names of the counts of a row: the direction of the target, and that of the output."""
NO_DIRECTIONS = "no target is a direction"
_CLASS_OF = dict(zip(MS2_CLASSES, CLASSES, strict=True))


def stated_direction(text: str) -> str:
    """Return the class that a text names, or ``OTHER``."""
    return _CLASS_OF.get(text.strip().lower(), OTHER)


def compare_directions(text: str, target: str) -> dict[str, float] | None:
    """Return the scores of an output: whether its direction is correct or missing, and the counts (``CELLS``), 0 or 1.

    None if the target names no direction.
    """
    wanted, output = stated_direction(target), stated_direction(text)
    if wanted == OTHER:
        return None
    counts = {cell: float(cell == f"{wanted}/{output}") for cell in CELLS}
    return {"correct": float(wanted == output), OTHER: float(output == OTHER), **counts}


def macro_f1(rows: Iterable[tuple[Hashable, Mapping[str, float | None]]]) -> dict[str, Any]:
    """Return macro F1 over directions as plain values, from the review and the counts (``CELLS``) of each output.

    The mean is over the directions that occur in targets or outputs, as in the program, and so are ``macro_precision``
    and ``macro_recall``. ``ci`` is the interval over reviews by the rule of `measures.clustered`, None if ``ci_reason``
    says why. ``classes`` has precision, recall and F1 of each direction, ``n`` targets and ``outputs``. ``other``
    counts outputs that are no direction.
    """
    tables: dict[Hashable, FloatArray] = defaultdict(lambda: np.zeros((len(OUTPUTS), len(OUTPUTS))))
    for review, values in rows:
        counts = [float(values.get(name) or 0) for name in CELLS]
        tables[review][: len(CLASSES)] += np.reshape(counts, (len(CLASSES), len(OUTPUTS)))
    of_reviews = np.array([table for table in tables.values() if table.any()]).reshape(-1, len(OUTPUTS), len(OUTPUTS))
    table = of_reviews.sum(axis=0)
    sizes = of_reviews.sum(axis=(1, 2))
    value = _macro_f1(table)
    figures: dict[str, Any] = {
        "macro_f1": None if np.isnan(value) else float(value),
        "ci": None,
        "ci_reason": "",
        "undefined": NO_DIRECTIONS if np.isnan(value) else None,
        "n": int(table.sum()),
        "reviews": len(of_reviews),
        "other": int(table[:, -1].sum()),
        "classes": {
            str(each.label): {
                "precision": each.precision,
                "recall": each.recall,
                "f1": each.f1,
                "n": each.n_gold,
                "outputs": each.n_given,
            }
            for each in class_scores(table, OUTPUTS)[: len(CLASSES)]
        },
        "table": [[int(cell) for cell in row] for row in table[: len(CLASSES)]],
    }
    occurring = [each for each in figures["classes"].values() if each["f1"] is not None]
    for name in ("precision", "recall"):
        shares = [each[name] or 0.0 for each in occurring]
        figures[f"macro_{name}"] = sum(shares) / len(shares) if shares else None
    if figures["macro_f1"] is not None:
        found = estimate(figures["macro_f1"], _macro_f1(table - of_reviews), sizes, FROM_0_TO_1)
        figures |= {"ci": list(found.ci) if found.ci else None, "ci_reason": found.reason}
    return figures


def _macro_f1(tables: FloatArray) -> Any:
    """Return macro F1 of tables (..., 4, 4) with targets in rows. NaN if a table is empty."""
    hits = np.diagonal(tables, axis1=-2, axis2=-1)[..., : len(CLASSES)]
    totals = (tables.sum(axis=-1) + tables.sum(axis=-2))[..., : len(CLASSES)]
    f1 = np.divide(2 * hits, totals, out=np.zeros_like(hits), where=totals > 0)
    occurring = (totals > 0).sum(axis=-1)
    return np.divide(f1.sum(axis=-1), occurring, out=np.full(np.shape(occurring), np.nan), where=occurring > 0)
