"""ROUGE of each summary against each of its references."""

from typing import Any

from api.parameters import Parameter, Takes
from measures.means import FROM_0_TO_1
from measures.rouge import ROUGE_KINDS, Prf, RougeKind, RougeText, rouge, rouge_parameters

from .per_summary import CpuMetric, PerSummaryScorer
from .protocol import Figure, Judged, Params, Row

LABELS: dict[RougeKind, str] = {
    "rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L", "rougeLsum": "ROUGE-Lsum",
}  # fmt: skip
#: What stands for ROUGE where there is room for two.
HEADLINES: tuple[RougeKind, ...] = ("rouge1", "rougeL")
STEMMER = Parameter(
    "stemmer", Takes.SWITCH, "Porter stemmer", False,
    help="Off in MS^2's and MSLR's scripts; M3 does not say. Figures with and without it are not comparable.",
)  # fmt: skip


class RougeMetric(CpuMetric):
    key = "rouge"
    name = "ROUGE"
    description = (
        "ROUGE-1, -2, -L and -Lsum, as rouge-score reckons them, against each reference: precision is the share of the "
        "summary that the reference has, recall the share of the reference that the summary has."
    )
    parameters: tuple[Parameter, ...] = (STEMMER,)
    figures: tuple[Figure, ...] = tuple(
        Figure(
            f"{kind}_{part}", f"{LABELS[kind]} {words}", scale=100, decimals=1, bounds=FROM_0_TO_1, better="higher",
            headline=(kind in HEADLINES and part == "f1"),
        )
        for kind in ROUGE_KINDS
        for part, words in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
    )  # fmt: skip

    def libraries(self, params: Params) -> dict[str, Any]:
        return rouge_parameters(stemmer=params["stemmer"])

    def load(self, params: Params) -> "RougeScorer":
        return RougeScorer(params["stemmer"])


class RougeScorer(PerSummaryScorer):
    def __init__(self, stemmer: bool) -> None:
        self.stemmer = stemmer

    def rows(self, judged: Judged) -> list[Row]:
        output = RougeText(judged.text, stemmer=self.stemmer)
        return [
            of_kinds(reference.unit, rouge(output, RougeText(reference.text, stemmer=self.stemmer)))
            for reference in judged.material.references
        ]


def of_kinds(reference: int | None, found: dict[RougeKind, Prf], prefix: str = "") -> Row:
    """ROUGE by kind as one row; names of figures begin with ``prefix``."""
    values: dict[str, float | None] = {}
    undefined: dict[str, str] = {}
    for kind, prf in found.items():
        for part in ("f1", "precision", "recall"):
            name = f"{prefix}{kind}_{part}"
            values[name] = getattr(prf, part)
            if prf.undefined:
                undefined[name] = prf.undefined
    return Row(reference, values, undefined)
