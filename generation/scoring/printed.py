"""Which figures of a metric the papers' tables print, and compare systems by."""

from collections.abc import Mapping, Sequence

ROUGE: Sequence[str] = ("rouge1_f1", "rouge2_f1", "rougeL_f1")
BERTSCORE = "bertscore_f1"
#: ROUGE's kinds, each against the inputs and, in brackets, less that against the target.
KINDS: Mapping[str, str] = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
OTHERS: Sequence[str] = ("coverage", "density", "compression", "longest")
COPYING: Sequence[str] = (*(f"{part}_{kind}_f1" for kind in KINDS for part in ("inputs", "difference")), *OTHERS)

#: What two systems are compared by.
COMPARED: Mapping[str, Sequence[str]] = {"rouge": ROUGE, "bertscore": (BERTSCORE,), "copying": COPYING}
