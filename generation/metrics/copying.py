"""How much of a summary is copied from its inputs, and whether it is closer to them than to its target."""

from typing import Any

from api.parameters import Parameter, Takes
from measures.copying import (
    COPIED_NGRAMS,
    CopyInputs,
    copying,
    copying_difference,
    copying_parameters,
    rouge_against_inputs,
)
from measures.means import FROM_0, FROM_0_TO_1
from measures.rouge import ROUGE_KINDS, RougeText, rouge_parameters

from .per_summary import CpuMetric, PerSummaryScorer
from .protocol import Figure, Judged, Params, Row
from .rouge import LABELS, STEMMER, of_kinds

#: Shorter runs are found in any two texts of one field.
LEAST = 5
POOLING = Parameter(
    "pooling", Takes.CHOICE, "ROUGE against", "joined", choices=("joined", "best"),
    help="joined: all inputs as one text. best: the input with the largest F1, kind by kind.",
)  # fmt: skip


class CopyingMetric(CpuMetric):
    key = "copying"
    name = "Copying"
    description = (
        "ROUGE of the summary against its inputs; that less ROUGE against the target (the bracketed figures of M3's "
        "Table 6: positive is closer to the inputs); coverage, density and compression of Newsroom; the longest run."
    )
    parameters: tuple[Parameter, ...] = (STEMMER, POOLING)
    figures: tuple[Figure, ...] = (
        *(
            Figure(f"inputs_{kind}_{part}", f"{LABELS[kind]} {words} against inputs", "inputs", 100, 1, FROM_0_TO_1)
            for kind in ROUGE_KINDS
            for part, words in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
        ),
        *(
            Figure(
                f"difference_{kind}_{part}",
                f"{LABELS[kind]} {words}, inputs - target",
                "reference",
                100,
                1,
                (-1.0, 1.0),
            )
            for kind in ROUGE_KINDS
            for part, words in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
        ),
        Figure("coverage", "Coverage", "inputs", 100, 1, FROM_0_TO_1),
        Figure("density", "Density", "inputs", decimals=1, bounds=FROM_0),
        Figure("compression", "Compression", "inputs", decimals=1, bounds=FROM_0),
        Figure("longest", "Longest copied run (tokens)", "inputs", decimals=1, bounds=FROM_0),
        *(
            Figure(f"copied_{n}", f"Copied {n}-grams", "inputs", 100, 1, FROM_0_TO_1, headline=n == max(COPIED_NGRAMS))
            for n in COPIED_NGRAMS
        ),
    )

    def libraries(self, params: Params) -> dict[str, Any]:
        return copying_parameters(least=LEAST) | {"rouge": rouge_parameters(stemmer=params["stemmer"])}

    def load(self, params: Params) -> "CopyingScorer":
        return CopyingScorer(params)


class CopyingScorer(PerSummaryScorer):
    def __init__(self, params: Params) -> None:
        self.stemmer, self.pooling = params["stemmer"], params["pooling"]

    def rows(self, judged: Judged) -> list[Row]:
        inputs = CopyInputs([text.text for text in judged.material.source.inputs])
        return [self._of_inputs(judged, inputs), *self._differences(judged, inputs)]

    def _of_inputs(self, judged: Judged, inputs: CopyInputs) -> Row:
        output = RougeText(judged.text, stemmer=self.stemmer)
        near = rouge_against_inputs(output, inputs, stemmer=self.stemmer, pooling=self.pooling)
        against = of_kinds(None, near, "inputs_")
        found = copying(judged.text, inputs, least=LEAST)
        values: dict[str, float | None] = {
            "coverage": found.coverage, "density": found.density, "compression": found.compression,
            "longest": found.longest.n_tokens if found.longest else None if found.undefined else 0,
            **{f"copied_{n}": share for n, share in found.copied_ngrams.items()},
        }  # fmt: skip
        undefined = {
            name: found.undefined or f"the summary has no {name.removeprefix('copied_')}-gram"
            for name, value in values.items()
            if value is None
        }
        return Row(None, {**against.values, **values}, {**against.undefined, **undefined})

    def _differences(self, judged: Judged, inputs: CopyInputs) -> list[Row]:
        made = []
        for reference in judged.material.references:
            found = copying_difference(
                judged.text, inputs, reference.text, stemmer=self.stemmer, pooling=self.pooling
            )  # fmt: skip
            differences = {kind: pair.difference for kind, pair in found.items()}
            made.append(of_kinds(reference.unit, differences, "difference_"))
        return made
