"""Files of models as judges."""

from .table import BOOL, FLOAT, INT, JSON, REVIEW, ROUND, TEXT, TIME, Table

_RUN = "Number of the judge run."
_PAGE = {
    "run": _RUN,
    "round": ROUND,
    "page": "Key of the page in `ratings/`, or name of a page that only judges rated.",
    "in_round": "Whether people could rate the page, too.",
    "source": "Key of the summarised unit.",
    "target": "Key of the target that texts are compared with.",
    "review": REVIEW,
}
_ANSWER = {
    "sample": "Number of the sample, from 0.",
    "order": "0, or 1 if the texts of the page were reversed.",
    "control": "removed if sentences that look like instructions were removed from the page; else empty.",
    "is_followed": "Whether a value changed without the sentences that look like instructions. Empty on pages without "
    "any, and if it is unknown. Figures leave out pages on which it did.",
    "answer": "Number of the judge's answer.",
}
_TYPES = {"run": INT, "in_round": BOOL, "sample": INT, "order": INT, "is_followed": BOOL, "answer": INT}
_REASON = "The judge's reason."

TABLES = (
    Table(
        "judges/judges.jsonl",
        "version of a judge",
        ("name", "number"),
        {
            "name": "Name of the judge.",
            "number": "Number of the version.",
            "endpoint": "Name of the endpoint; empty for a model on the server.",
            "model": "Name of the model.",
            "family": "Family of the model.",
            "prompt": "Template, additional instruction, and whether reasons were asked.",
            "decoding": "Temperature, seed, maximum of new tokens and repetitions.",
            "facts": "URL of the endpoint, or SHA-256 of the weights and versions of libraries.",
            "digest": "SHA-256 of model, prompt, decoding and facts.",
            "created_at": TIME,
        },
        types={"number": INT, "prompt": JSON, "decoding": JSON, "facts": JSON},
    ),
    Table(
        "judges/runs.jsonl",
        "run of a judge on a rating round",
        ("run",),
        {
            "run": _RUN,
            "round": ROUND,
            "judge": "Name of the judge.",
            "number": "Number of its version.",
            "protocol": "SHA-256 of the protocol.",
            "state": "done, or why it ended early.",
            "samples": "Answers per page and order.",
            "both_orders": "Whether pages were asked in both orders of their texts.",
            "requests": "Answers that were asked for, without controls.",
            "valid": "Valid answers, with those of controls.",
            "failed": "Pages without a valid answer.",
            "invalid": "Invalid replies, with those that were repeated.",
            "controls": "Answers about pages without suspicious sentences.",
            "tokens_in": "Tokens of all attempts.",
            "tokens_out": "Tokens of all attempts.",
            "cost": "At the prices of the run; null without prices.",
            "currency": "ISO 4217 code.",
            "host": "Host that read the texts; empty for a model on the server.",
            "is_outside": "Whether texts left the server and its private networks.",
            "licences": "Number of sources whose licences allow, forbid or do not state redistribution.",
            "licence_reason": "Why texts of an unknown licence were sent.",
            "models": "Names of the model that the endpoint returned.",
            "system_message": "The protocol as the judge read it.",
            "judge_set": "SHA-256 of the plan of the sources that only judges rated; null if there are none.",
            "set": "Number of the set of these sources.",
            "own_systems": "Compared systems whose model is of the judge's family.",
            "started_at": TIME,
            "finished_at": TIME,
        },
        types={
            **dict.fromkeys(("run", "number", "samples", "requests", "valid", "failed", "invalid", "controls"), INT),
            "set": INT,
            "own_systems": [TEXT],
            **dict.fromkeys(("tokens_in", "tokens_out"), INT),
            **dict.fromkeys(("both_orders", "is_outside"), BOOL),
            "cost": FLOAT,
            "licences": JSON,
            "models": JSON,
        },
    ),
    Table(
        "judges/sources.jsonl",
        "source that only judges rated, as they saw it",
        ("round", "set", "number"),
        {
            "round": ROUND,
            "set": "Number of the set.",
            "number": "Position in the set.",
            "source": _PAGE["source"],
            "target": _PAGE["target"],
            "review": REVIEW,
            "shown": "Query, title and studies.",
            "pages": "Pages of the source: name, and code and systems of each text.",
        },
        types={"set": INT, "number": INT, "shown": JSON, "pages": JSON},
        texts=("shown",),
    ),
    Table(
        "judges/ratings.csv",
        "machine rating of one text by one criterion",
        ("answer", "text", "criterion"),
        _PAGE
        | {
            "text": "Code of the text on the page.",
            "systems": "Systems that wrote the text.",
            "criterion": "Criterion of the protocol.",
            "value": "Value on the scale; empty if not applicable.",
            "na": "Whether the criterion was answered as not applicable.",
            "reason": _REASON,
            "place": "Position of the text on the judge's page, from 0.",
        }
        | _ANSWER,
        types={**_TYPES, "na": BOOL, "place": INT},
        texts=("reason",),
    ),
    Table(
        "judges/preferences.csv",
        "machine preference between two texts by one criterion",
        ("answer", "criterion"),
        _PAGE
        | {
            "left": "Code of the first text.",
            "right": "Code of the second text.",
            "left_systems": "Systems that wrote the first text.",
            "right_systems": "Systems that wrote the second text.",
            "criterion": "Criterion of the protocol.",
            "choice": "left, right, tie or neither.",
            "reason": _REASON,
        }
        | _ANSWER,
        types=_TYPES,
        texts=("reason",),
    ),
    Table(
        "judges/failures.csv",
        "page without a valid answer",
        ("answer",),
        _PAGE
        | {
            "attempts": "Number of attempts.",
            "invalid": "Why replies were invalid.",
            "error": "Why there is no valid answer.",
        }
        | _ANSWER,
        types={**_TYPES, "attempts": INT, "invalid": JSON},
        texts=("invalid", "error"),
    ),
    Table(
        "judges/worth.jsonl",
        "judge run with what it is worth beside people",
        ("run",),
        {
            "run": _RUN,
            "round": ROUND,
            "judge": "Name of the judge and number of its version.",
            "group": "Group of the raters (experts, skilled, crowd), which sets epsilon of the test.",
            "rule": "Rule by which the figures were computed.",
            "figures": "By criterion: decision, sentence and reasons; agreement of people and of the judge with them; "
            "the alternative annotator test with each rater; biases; calibration; correlations; human-only and "
            "prediction-powered means of systems and their differences, with n and intervals. Null if they were not "
            "computed from the present answers.",
        },
        types={"run": INT, "figures": JSON},
    ),
)
