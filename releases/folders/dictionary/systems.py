"""Files of systems: runs, summaries, metrics, probes, and comparisons."""

from .table import FLOAT, INT, JSON, NUMPY, REVIEW, RULE, RUN, TEXT, TIME, UNIT, UNIT_TYPE, Table

_LIKELIHOOD = "Sum of negative log-likelihoods (nats) of"
_COMPARISON = (
    "both means over the common units, the difference (first minus second) with n, number of reviews and interval, p, "
    "the number of reviews that differ, the smallest p possible with this number, and p adjusted (Holm) over all pairs "
    "of one figure"
)

TABLES = (
    Table(
        "systems/runs.jsonl",
        "run of a version of a system over the units of its level",
        ("run",),
        {
            "run": RUN,
            "system": "Name of the system.",
            "version": "Number of the version.",
            "hash": "SHA-256 of the configuration and of all files that it refers to.",
            "backend": "Type of summariser.",
            "level": "Document, sentence, proposition, pair, answer (one passage) or question (all its passages).",
            "purpose": "Summaries, or the probe with counterfactuals.",
            "status": "Running, stopped or done.",
            "units": "Number of units.",
            "done": "Number of units with a result.",
            "created_at": TIME,
            "finished_at": TIME,
        },
        types={"run": INT, "version": INT, "units": INT, "done": INT},
    ),
    Table(
        "systems/summaries.jsonl",
        "summary",
        ("summary",),
        {
            "run": RUN,
            "summary": "Number of the summary.",
            "unit_type": UNIT_TYPE,
            "unit": UNIT,
            "review": REVIEW,
            "text": "Text of the summary, unchanged.",
            "finish": "Complete, length (truncated at the maximum length) or unknown.",
            "tokens_in": "Number of input tokens.",
            "tokens_cut": "Number of input tokens that were truncated.",
            "tokens_out": "Number of output tokens.",
            "sha256": "SHA-256 of the text in UTF-8.",
        },
        types={"run": INT, "summary": INT, "tokens_in": INT, "tokens_cut": INT, "tokens_out": INT},
        unit=("unit", "review"),
    ),
    Table(
        "systems/scorings.jsonl",
        "metric over all summaries of a run",
        ("run", "metric"),
        {
            "run": RUN,
            "metric": "Name of the metric.",
            "params": "Parameters of the metric.",
            "libraries": "Versions and hashes that can change a score.",
            "scores": "File of the single scores.",
            "means": "Unscaled table values by figure and side: mean, n, number of reviews, standard deviation and "
            "interval; null if not computed.",
            "corpus": "Figures that exist only over all summaries together.",
            "bounds": "Bounds of the mean, by figure.",
            "compared": "Figures by which systems are compared.",
            "numpy": NUMPY,
        },
        types={
            "run": INT,
            "params": JSON,
            "libraries": JSON,
            "means": JSON,
            "corpus": JSON,
            "bounds": JSON,
            "compared": [TEXT],
        },
    ),
    Table(
        "systems/scores/*.csv",
        "summary with its scores, against one reference or none (one file per metric)",
        ("run", "summary", "reference_type", "reference"),
        {
            "run": RUN,
            "summary": "Number of the summary.",
            "unit": UNIT,
            "review": REVIEW,
            "against": "Own target, or proposition of its review; or the name of a written summary: its form and its "
            "writer.",
            "reference_type": UNIT_TYPE,
            "reference": "Unit of the reference text; empty if the metric uses none.",
            "undefined": "JSON: reasons for undefined figures, by figure.",
        },
        "A figure; empty if it is undefined or does not apply to this row.",
        types={"run": INT, "summary": INT, "undefined": JSON},
        others_type=FLOAT,
        unit=("unit", "review"),
    ),
    Table(
        "systems/references.csv",
        "reference text",
        ("unit_type", "unit"),
        {"unit_type": UNIT_TYPE, "unit": UNIT, "text": "The text that summaries were compared with."},
        unit=("unit",),
    ),
    Table(
        "systems/likelihoods.csv",
        "likelihood of a target, or of a counterfactual of it, under a run",
        ("run", "unit", "target", "counterfactual"),
        {
            "run": RUN,
            "unit": UNIT,
            "target": "Unit of the target.",
            "counterfactual": "Number of the counterfactual; empty for the target itself.",
            "kind": "Kind of the counterfactual.",
            "review": REVIEW,
            "content_sum": f"{_LIKELIHOOD} all tokens but special tokens.",
            "content_tokens": "Number of these tokens.",
            "all_sum": f"{_LIKELIHOOD} all tokens.",
            "all_tokens": "Number of these tokens.",
            "replaced_sum": f"{_LIKELIHOOD} the target's tokens that the counterfactual lacks.",
            "replaced_tokens": "Number of these tokens.",
            "changed_sum": f"{_LIKELIHOOD} the tokens that only the counterfactual has.",
            "changed_tokens": "Number of these tokens.",
        },
        types={
            "run": INT,
            "counterfactual": INT,
            "content_sum": FLOAT,
            "content_tokens": INT,
            "all_sum": FLOAT,
            "all_tokens": INT,
            "replaced_sum": FLOAT,
            "replaced_tokens": INT,
            "changed_sum": FLOAT,
            "changed_tokens": INT,
        },
        unit=("unit", "review"),
    ),
    Table(
        "systems/probes.jsonl",
        "probe with its results",
        ("run",),
        {
            "run": RUN,
            "rows": "Results by kind and over all kinds, on each basis; null if not computed.",
            "numpy": NUMPY,
        },
        types={"run": INT, "rows": JSON},
    ),
    Table(
        "systems/pairs.jsonl",
        "pair of systems, compared by one metric on their common units",
        ("metric", "first", "second"),
        {
            "metric": "Name of the metric.",
            "first": "Number of the first run.",
            "second": "Number of the second run.",
            "rule": RULE,
            "rows": f"By figure and side: {_COMPARISON}, side and level; `ranks`: Wilcoxon's test, against written "
            "summaries only; null if not compared.",
            "numpy": NUMPY,
        },
        types={"first": INT, "second": INT, "rows": JSON},
    ),
    Table(
        "systems/probe_pairs.jsonl",
        "pair of probes, compared on the counterfactuals that both have judged",
        ("first", "second"),
        {
            "first": "Number of the first run.",
            "second": "Number of the second run.",
            "rule": RULE,
            "rows": f"By kind, or over all kinds, for the delta and the accuracy over all tokens: {_COMPARISON}, kind "
            "and level; null if not compared, or if a probe of the level has newer results.",
            "numpy": NUMPY,
        },
        types={"first": INT, "second": INT, "rows": JSON},
    ),
    Table(
        "systems/common.jsonl",
        "probe with its results on the counterfactuals that all probes of its level have judged",
        ("run",),
        {
            "run": RUN,
            "of": "Numbers of the runs with these common counterfactuals.",
            "rows": "As in `systems/probes.jsonl`; null if one of the runs has newer results.",
            "numpy": NUMPY,
        },
        types={"run": INT, "of": [INT], "rows": JSON},
    ),
)
