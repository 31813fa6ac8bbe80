"""Copying: the share of a summary that is copied from its inputs, and its similarity to inputs and target."""

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

from .protocol import CpuMetric, Figure, Judged, Params, PerSummaryScorer, Row
from .rouge import LABELS, STEMMER, of_kinds

#: Minimum length of a copied run in tokens. Any two texts of one field share shorter runs.
LEAST = 5
POOLING = Parameter(
    "pooling",
    Takes.CHOICE,
    "ROUGE against",
    "joined",
    choices=("joined", "best"),
    help="joined: all inputs as one text. best: the input with the highest F1, for each ROUGE kind.",
)


class CopyingMetric(CpuMetric):
    key = "copying"
    name = "Copying"
    description = (
        "ROUGE of the summary against its inputs, and minus ROUGE against the target (in brackets in M3's Table 6; "
        "positive: closer to the inputs); coverage, density and compression as in Newsroom; longest copied run."
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
        prf = rouge_against_inputs(output, inputs, stemmer=self.stemmer, pooling=self.pooling)
        rouge_row = of_kinds(None, prf, "inputs_")
        result = copying(judged.text, inputs, least=LEAST)
        values: dict[str, float | None] = {
            "coverage": result.coverage,
            "density": result.density,
            "compression": result.compression,
            "longest": result.longest.n_tokens if result.longest else None if result.undefined else 0,
            **{f"copied_{n}": share for n, share in result.copied_ngrams.items()},
        }
        undefined = {
            name: result.undefined or f"the summary has no {name.removeprefix('copied_')}-gram"
            for name, value in values.items()
            if value is None
        }
        return Row(None, {**rouge_row.values, **values}, {**rouge_row.undefined, **undefined})

    def _differences(self, judged: Judged, inputs: CopyInputs) -> list[Row]:
        rows = []
        for reference in judged.material.references:
            pairs = copying_difference(judged.text, inputs, reference.text, stemmer=self.stemmer, pooling=self.pooling)
            differences = {kind: pair.difference for kind, pair in pairs.items()}
            rows.append(of_kinds(reference.unit, differences, "difference_"))
        return rows
