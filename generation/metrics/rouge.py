"""ROUGE of each summary against each of its references."""

from typing import Any

from api.parameters import Parameter, Takes
from measures.means import FROM_0_TO_1
from measures.rouge import EVERY_ROUGE_KIND, ROUGE_KINDS, Prf, RougeKind, RougeText, rouge, rouge_parameters

from .protocol import REFERENCES, CpuMetric, Figure, Judged, Params, PerSummaryScorer, Row

LABELS: dict[RougeKind, str] = {
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "rougeLsum": "ROUGE-Lsum",
    "rouge3": "ROUGE-3",
}
#: The ROUGE variants that serve as main figures.
HEADLINES: tuple[RougeKind, ...] = ("rouge1", "rougeL")
STEMMER = Parameter(
    "stemmer",
    Takes.SWITCH,
    "Porter stemmer",
    False,
    help="Off in the scripts of MS^2 and MSLR; M3 does not report it. Values with and without it are not comparable.",
)


class RougeMetric(CpuMetric):
    key = "rouge"
    name = "ROUGE"
    description = (
        "ROUGE-1, -2, -L and -Lsum, as computed by rouge-score, against each reference; ROUGE-3 against written "
        "summaries. Precision is the share of the summary that occurs in the reference, recall the share of the "
        "reference that occurs in the summary."
    )
    parameters: tuple[Parameter, ...] = (STEMMER, REFERENCES)
    figures: tuple[Figure, ...] = tuple(
        Figure(
            f"{kind}_{part}",
            f"{LABELS[kind]} {words}",
            scale=100,
            decimals=1,
            bounds=FROM_0_TO_1,
            better="higher",
            headline=(kind in HEADLINES and part == "f1"),
        )
        for kind in EVERY_ROUGE_KIND
        for part, words in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
    )

    def libraries(self, params: Params) -> dict[str, Any]:
        return rouge_parameters(stemmer=params["stemmer"])

    def load(self, params: Params) -> "RougeScorer":
        return RougeScorer(params["stemmer"])


class RougeScorer(PerSummaryScorer):
    def __init__(self, stemmer: bool) -> None:
        self.stemmer = stemmer

    def rows(self, judged: Judged) -> list[Row]:
        output = RougeText(judged.text, stemmer=self.stemmer)
        kinds = EVERY_ROUGE_KIND if judged.material.written else ROUGE_KINDS
        return [
            of_kinds(reference.unit, rouge(output, RougeText(reference.text, stemmer=self.stemmer), kinds=kinds))
            for reference in judged.material.references
        ]


def of_kinds(reference: int | None, scores: dict[RougeKind, Prf], prefix: str = "") -> Row:
    """Return ROUGE scores as one row. Names of figures begin with ``prefix``."""
    values: dict[str, float | None] = {}
    undefined: dict[str, str] = {}
    for kind, prf in scores.items():
        for part in ("f1", "precision", "recall"):
            name = f"{prefix}{kind}_{part}"
            values[name] = getattr(prf, part)
            if prf.undefined:
                undefined[name] = prf.undefined
    return Row(reference, values, undefined)
