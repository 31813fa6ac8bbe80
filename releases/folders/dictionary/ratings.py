"""Files of rating rounds."""

from .table import BOOL, INT, JSON, KIND, NUMPY, RATER, REPEAT, REVIEW, ROUND, RULE, TIME, UNIT_TYPE, Table

_PAGE = {
    "round": ROUND,
    "page": "Key of the page, the unit of `answers/`.",
    "source": "Key of the summarised unit.",
    "target": "Key of the target that texts are compared with.",
    "review": REVIEW,
}
_RATING = {
    "rater": RATER,
    "criterion": "Criterion of the protocol.",
    "reason": "Empty unless the project publishes comments.",
    "repeat": REPEAT,
    "answer": "UUID.",
}
_ACTIVE = "Active time on the page in milliseconds."
_GROUP = "Group of the raters (experts, crowd), if the imported file states it."

TABLES = (
    Table(
        "ratings/rounds.jsonl",
        "rating round that is closed and unblinded",
        ("round",),
        {
            "round": ROUND,
            "kind": KIND,
            "purpose": "Purpose of the answers.",
            "seed": "Seed of the design.",
            "secret": "With the seed, the source of all random choices that could identify a system. It was not "
            "revealed before unblinding. Null in rounds without a secret.",
            "design": "SHA-256 of the plan and the name of the algorithm.",
            "plan": "Systems, sources, pages with the codes and authors of their texts, seed and secret.",
            "exclusions": "Exclusions from figures that were declared in advance.",
            "protocol": "Name, version, SHA-256 and full content of the protocol.",
            "entrants": "Systems: name, run, system, version and its SHA-256; only the name for references.",
            "unblinded_at": TIME,
            "unblinded_by": RATER,
        },
        types={"seed": INT, "plan": JSON, "exclusions": JSON, "protocol": JSON, "entrants": JSON},
    ),
    Table(
        "ratings/figures.jsonl",
        "rating round with its results",
        ("round",),
        {
            "round": ROUND,
            "rule": RULE,
            "figures": "Results over all ratings (`all`) and after the declared exclusions (`kept`): by criterion, the "
            "figures of each system with n and intervals, pairs of systems, letters and test-retest agreement; raters; "
            "preferences; strengths from the best and the worst (`best_worst`); means of standard scores of sliders "
            "(`standardised`). Also checks, M3's claims, labels that could not be compared, and directions. If "
            "`scored` is not null, also `metrics` (means over the rated texts) and `correlations` of each metric with "
            "each criterion. Null if not computed.",
            "scored": "Names of metrics in figures, each with the metric and figure of `systems/scorings.jsonl`. Null "
            "if figures have no metrics, because the scores are not in the release.",
            "numpy": NUMPY,
        },
        types={"figures": JSON, "scored": JSON},
    ),
    Table(
        "ratings/sources.jsonl",
        "source of a rating round, as raters saw it",
        ("round", "number"),
        {
            "round": ROUND,
            "number": "Position in the plan.",
            "source_type": UNIT_TYPE,
            "source": _PAGE["source"],
            "target": _PAGE["target"],
            "review": REVIEW,
            "shown": "Query, title and studies.",
            "gold": "Text, tuple, polarity and modality of the target at that time.",
        },
        types={"number": INT, "shown": JSON, "gold": JSON},
        texts=("shown", "gold"),
    ),
    Table(
        "ratings/texts.csv",
        "text of a page and one of its authors",
        ("round", "page", "text", "number"),
        _PAGE
        | {
            "text": "Code of the text on the page.",
            "number": "Number of the system; empty for attention checks.",
            "system": "Name of the system.",
            "shown": "The text as raters saw it.",
            "exact": "The original text.",
            "is_check": "Whether the text is on the page of an attention check.",
            "made_from": "Code of the text that was degraded; its own code if it is shown beside a degraded text.",
        },
        types={"number": INT, "is_check": BOOL},
        texts=("shown", "exact"),
    ),
    Table(
        "ratings/ratings.csv",
        "rating of one text by one criterion",
        ("answer", "text", "criterion"),
        _PAGE
        | _RATING
        | {
            "text": "Code of the text on the page.",
            "systems": "Systems that wrote the text; all of them, if several wrote the same text.",
            "value": "Value on the scale; empty if not applicable.",
            "na": "Whether the criterion was answered as not applicable.",
            "prefilled": "Whether an earlier answer suggested the value.",
            "place": "Position of the text on the rater's page, from 0.",
            "active_ms": _ACTIVE,
            "is_check": "Whether the text is on the page of an attention check, which no figure includes.",
            "rater_group": _GROUP,
        },
        types={"repeat": INT, "na": BOOL, "prefilled": BOOL, "place": INT, "active_ms": INT, "is_check": BOOL},
        texts=("reason",),
    ),
    Table(
        "ratings/preferences.csv",
        "preference between two texts by one criterion",
        ("answer", "criterion"),
        _PAGE
        | _RATING
        | {
            "left": "Code of the text on the left.",
            "right": "Code of the text on the right.",
            "left_systems": "Systems that wrote the left text.",
            "right_systems": "Systems that wrote the right text.",
            "choice": "left, right, tie or neither.",
            "active_ms": _ACTIVE,
            "is_check": "Whether it is an attention check: one of its texts is degraded.",
            "rater_group": _GROUP,
        },
        types={"repeat": INT, "active_ms": INT, "is_check": BOOL},
        texts=("reason",),
    ),
    Table(
        "ratings/spans.csv",
        "marked or quoted passage of a rating",
        ("answer", "text", "criterion", "is_quote", "within", "study", "start", "end"),
        _RATING
        | {
            "round": ROUND,
            "page": _PAGE["page"],
            "text": "Code of the text.",
            "is_quote": "Whether the passage is quoted as evidence. Otherwise it is a marked part of the rated text.",
            "within": "Summary or source.",
            "study": "Number of the study of the source, from 0; empty in a summary.",
            "start": "Start in code points of the shown text.",
            "end": "End in code points (exclusive).",
            "quote": "The passage.",
            "category": "Category of the protocol.",
            "severity": "Severity of the protocol.",
        },
        types={"repeat": INT, "is_quote": BOOL, "study": INT, "start": INT, "end": INT},
        texts=("quote", "reason"),
    ),
)
