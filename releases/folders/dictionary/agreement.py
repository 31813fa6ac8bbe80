"""Files of agreement, corrections and reliability studies."""

from .table import ANSWERS, CELLS, PART, REVIEW, ROUND, SCALES, UNIT, UNIT_TYPE, Table

TABLES = (
    Table(
        "agreement/reports.jsonl",
        "closed round with its agreement report",
        ("round",),
        {
            "round": ROUND,
            "report": "All figures with n, interval and method.",
            "answers": ANSWERS,
            "unit_types": "Types of the units.",
            "part": PART,
            "ratings_an_item": "Planned number of ratings per item; the mean if the number varies between blocks.",
            "checks": "Attention checks, which are excluded.",
            "units_to_measure": "Number of units without attention checks.",
            "scales": SCALES,
            "comparisons": "Compared texts, and how they are compared.",
            "seed": "Seed of the bootstrap.",
            "own_seed": "Whether the seed of the bootstrap differs from the round's seed, which orders pages.",
            "bootstrap": "Number of bootstrap replicates; 0, because intervals use no bootstrap.",
            "libraries": "Versions of the libraries that computed the report.",
        },
    ),
    Table(
        "agreement/corrections.jsonl",
        "closed correction round with the outcome of the shown values",
        ("round",),
        {
            "round": ROUND,
            "part": PART,
            "fields": "Fields that the round decides.",
            "answers": "File of the answers: the counted rows.",
            "shown": "File of the shown values.",
            "scales": SCALES,
            "report": "All figures with n.",
        },
    ),
    Table(
        "agreement/references.csv",
        "field of an answer for which a value was shown",
        ("answer", "field"),
        {
            "answer": "UUID.",
            "field": "Field of the task.",
            "same": "Whether the answer equals the shown value.",
            "review": REVIEW,
        },
    ),
    Table("agreement/shown/*.csv", "shown value, or part of it", ("answer",), {"answer": "UUID."}, CELLS),
    Table(
        "agreement/units.csv",
        "unit of a closed round",
        ("unit_type", "unit"),
        {"unit_type": UNIT_TYPE, "unit": UNIT, "review": REVIEW, "text": "Text to which the spans in answers refer."},
    ),
    Table(
        "agreement/gold.csv",
        "reference value that raters are compared with, of a round that forms no gold",
        ("round", "scale", "unit"),
        {"round": ROUND, "scale": "Scale of the report.", "unit": UNIT, "value": "Value on the scale."},
    ),
    Table(
        "agreement/candidates.csv",
        "candidate sentence of a matching task",
        ("round", "unit", "number"),
        {
            "round": "Name of the round; closed rounds only.",
            "unit": UNIT,
            "target": "Key of the target.",
            "review": REVIEW,
            "study": "PubMed id of the study whose abstract contains the sentences.",
            "number": "Number of the sentence in answers. Its position on the page differed between raters.",
            "sentence": "Position in the abstract, from 1.",
            "text": "The sentence, verbatim.",
            "gold": "Whether it is the mapped evidence.",
            "nearest_by": "Ranker that selected the other sentences.",
            "rank": "Rank among the other sentences, from 1.",
        },
    ),
    Table(
        "agreement/studies.jsonl",
        "closed round of a reliability study",
        ("round",),
        {
            "study": "Name of the study.",
            "round": ROUND,
            "answers": ANSWERS,
            "scales": SCALES,
            "fields": "By field: number of items with two or more raters, number of raters, share of unanimous items, "
            "share of agreeing pairs, AC1 and Fleiss' kappa of the round's report, accuracy against "
            "`agreement/gold.csv`, chance level, and how often the ranker puts the gold sentence first; null if there "
            "is none.",
        },
    ),
)
