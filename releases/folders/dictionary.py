"""What files a release can have: of each what a row is, by what columns it is named, and what its columns say.

One list for all that has to know: the comparison of two releases, the card, and whatever describes the files in another
format. Plain Python.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Table:
    """A file of rows, CSV or JSON lines; ``path`` may have a ``*`` for what there is one file of each.

    ``key``: the columns (of JSON lines, the fields) that name a row. ``others``: what a column is that is not among
    ``columns``; empty where there is none.
    """

    path: str
    row: str
    key: Sequence[str]
    columns: Mapping[str, str] = field(default_factory=dict)
    others: str = ""


UNIT = "Its key, by which all files call it."
UNIT_TYPE = "What it is: proposition, cluster, target sentence, target document or review."
REVIEW = "The review it belongs to (PubMed id): what intervals take for alike."
RATER = "Pseudonym."
TIME = "UTC."
PAGE = {
    "round": "Its name.", "page": "Its key, the unit of `answers/`.",
    "source": "Key of the unit that was summarised.", "target": "Key of the target it is held against.",
    "review": REVIEW,
}  # fmt: skip
CHECK = "Whether a text made plainly bad is in it, by which attention is seen."
SAID = {
    "rater": RATER, "criterion": "Of the protocol.", "reason": "Empty unless the project publishes comments.",
    "repeat": "0, or which time it was asked again.", "answer": "UUID.",
}  # fmt: skip
ACTIVE = "Milliseconds at work on the page."
LIKELIHOOD = "of negative log-likelihoods (nats)"
RULE = "How the interval and p are taken."
COMPARISON = (
    "the mean of each over the common units, the difference (first less second) with n, reviews and interval, p, the "
    "number of reviews that differ, the least p that so many can give, and p adjusted (Holm) over all pairs here"
)

TABLES: Sequence[Table] = (
    Table("m3/level?.jsonl", "a target with its inputs, in M3's published format", ("docid",), others="M3's fields."),
    Table(
        "m3/counterfactuals.jsonl", "a counterfactual of a target", ("docid", "kind"),
        {"docid": "The cluster of the target.", "kind": "One of M3's five.", "target_text": "What it is of.",
         "text": "The counterfactual.", "origin": "How it came to be."},
    ),
    Table(
        "abstracts/sentences.jsonl", "a sentence of a review's abstract", ("review", "number"),
        {"review": "PubMed id.", "number": "Its place in the abstract, from 1.", "start": "In code points of the "
         "abstract.", "end": "In code points of the abstract.", "text": "As it stands there.",
         "section": "The heading that it stands under.", "category": "NLM's category of the section.",
         "splitter": "The rules by which abstracts were split.", "class": "In force: one of MS^2's nine.",
         "derived": "What MS^2 makes of the class.", "as_evidence": "In force: picked, or why not."},
    ),
    Table(
        "abstracts/derived.jsonl", "a review whose sentences have classes", ("review",),
        {"review": "PubMed id.", "background": "Its sentences that are background or goal, a line each.",
         "target": "Its sentences that say an effect, a line each."},
    ),
    Table(
        "rounds.jsonl", "a round of annotation", ("round",),
        {"round": "Its name.", "kind": "The task.", "purpose": "What its answers are for.",
         "independent": "Whether people labelled without seeing the current values.", "status": "Open or closed.",
         "overlap": "People a unit.", "dealing": "How units came to people.", "seed": "Of sampling, dealing and the "
         "bootstrap.", "guideline": "The version that it began with.", "units": "How many.",
         "sampling": "Filters, strata, sample and order.", "policy": "How answers become gold.",
         "options": "What people were shown.", "opened_at": TIME, "closed_at": TIME,
         "blind": "Whether its texts are judged without knowing what they are, and that is not told yet: seed, "
         "options and answers are left out."},
    ),
    Table(
        "answers/*.csv", "a revision of an answer; a file a kind", ("answer",),
        {"answer": "UUID.", "round": "The round's name.", "purpose": "The round's purpose.", "unit": UNIT,
         "slot": "1 to k; retired: outside of k.", "repeat": "0, or which time it was asked again.", "rater": RATER,
         "came_by": "How it reached the server.", "brought_by": "Who brought it, where that was not the rater.",
         "revision": "Of the answer.", "current": "Whether it is the newest of its slot.",
         "counted": "Whether it counts for agreement and gold.", "outcome": "Answered or skipped.",
         "skip_reason": "Why it was skipped.", "guideline": "The version that was in force.",
         "unit_revision": "What was shown.", "received_at": TIME, "active_ms": "Milliseconds at work.",
         "flag": "Whether the rater raised it.", "comment": "Empty unless the project publishes comments."},
        "The value, column by column.",
    ),
    Table(
        "agreement/reports.jsonl", "the agreement of a closed round, as its page prints it", ("round",),
        {"round": "Its name.", "report": "Every figure with n, interval and method.",
         "answers": "The file that it is computed from: rows that are counted, with repeat 0.",
         "unit_types": "Of the units that were asked for.",
         "part": "The column that says which part of a unit a row is about; empty for none.",
         "ratings_an_item": "How many ratings an item was to have, the mean where a block has more.",
         "scales": "Which column lies on which scale.",
         "comparisons": "Which texts are compared, and how.", "seed": "Of the bootstrap.",
         "own_seed": "Whether the seed of the bootstrap is another than the round's, which orders pages.",
         "bootstrap": "Replicates.", "libraries": "Versions that it was computed with."},
    ),
    Table(
        "agreement/corrections.jsonl", "what became of the values that a closed round showed, as its page prints it",
        ("round",),
        {"round": "Its name.", "part": "The column that says which part of a unit a row is about; empty for none.",
         "fields": "What is decided of a unit.", "answers": "The file of what was given: rows that are counted.",
         "shown": "The file of what was shown.", "scales": "Which column lies on which scale.",
         "report": "Every figure with n."},
    ),
    Table(
        "agreement/references.csv", "a field of which a value was shown with an answer", ("answer", "field"),
        {"answer": "Its identifier.", "field": "Of the task.", "same": "Whether the answer says what was shown."},
    ),
    Table(
        "agreement/shown/*.csv", "what was shown with an answer, or a part of it", ("answer",),
        {"answer": "Its identifier."}, "The value, column by column.",
    ),
    Table(
        "agreement/units.csv", "a unit that a closed round asked for", ("unit_type", "unit"),
        {"unit_type": UNIT_TYPE, "unit": UNIT, "review": REVIEW, "text": "What spans in the answers lie in."},
    ),
    Table(
        "agreement/gold.csv", "a value that raters are held against, of a round that makes no gold",
        ("round", "scale", "unit"),
        {"round": "The round's name.", "scale": "As in the report.", "unit": UNIT, "value": "On that scale."},
    ),
    Table(
        "agreement/candidates.csv", "one of the sentences of which people picked the most relevant to a target",
        ("round", "unit", "number"),
        {"round": "The round's name; of closed ones only.", "unit": UNIT, "target": "Key of the target.",
         "review": REVIEW, "study": "PubMed id of the study whose abstract the sentences are of.",
         "number": "What answers call it by. On the page it stood elsewhere for each person of a unit.",
         "sentence": "Its place in the abstract, from 1.", "text": "As it stands there.",
         "gold": "Whether it is the evidence that was mapped.",
         "nearest_by": "The ranker by which the others are the nearest.",
         "rank": "Its place among these by the ranker, from 1."},
    ),
    Table(
        "agreement/studies.jsonl", "a closed round of a reliability study, as the study's table prints it", ("round",),
        {"study": "Its name.", "round": "The round's name.",
         "answers": "The file that it is computed from: rows that are counted, with repeat 0.",
         "scales": "Which column lies on which scale.",
         "fields": "By field: items that two people or more rated, raters, shares of items to which all gave one value "
         "and of pairs that did, AC1 and Fleiss' kappa of the round's report, accuracy against `agreement/gold.csv`, "
         "chance, and how often the ranker has the gold sentence first; null where there is none."},
    ),
    Table(
        "systems/runs.jsonl", "a system's version at work on the units of its level", ("run",),
        {"run": "Number.", "system": "Its name.", "version": "Number.", "hash": "SHA-256 of its configuration and all "
         "that it points at.", "backend": "What kind of summariser.", "level": "Document, sentence or proposition.",
         "purpose": "Summaries, or the probe with counterfactuals.", "status": "Running, stopped or done.",
         "units": "Of how many units it is.", "done": "Of how many of these there is a result.",
         "created_at": TIME, "finished_at": TIME},
    ),
    Table(
        "systems/summaries.jsonl", "a summary", ("summary",),
        {"run": "Number of the run.", "summary": "Number.", "unit_type": UNIT_TYPE, "unit": UNIT, "review": REVIEW,
         "text": "As it came out.", "finish": "Complete, length (cut off at the longest allowed) or unknown.",
         "tokens_in": "Read.", "tokens_cut": "That did not fit.", "tokens_out": "Written.",
         "sha256": "Of the text, in UTF-8."},
    ),
    Table(
        "systems/scorings.jsonl", "a metric on all summaries of a run", ("run", "metric"),
        {"run": "Number of the run.", "metric": "Its name.", "params": "What it was told.",
         "libraries": "Versions and hashes that can change a score.", "scores": "The file of the single scores.",
         "means": "What tables print, before it is scaled: mean, n, reviews, standard deviation and interval by figure "
         "and side; null where they are not reckoned.", "corpus": "What exists of all summaries together only.",
         "bounds": "By figure, what its mean cannot leave.",
         "compared": "The figures by which tables compare systems.", "numpy": "Its version."},
    ),
    Table(
        "systems/scores/*.csv", "what a metric says of a summary, against one reference or none; a file a metric",
        ("run", "summary", "reference_type", "reference"),
        {"run": "Number of the run.", "summary": "Number.", "unit": UNIT, "review": REVIEW,
         "against": "Its own target, or a proposition of its review.", "reference_type": UNIT_TYPE,
         "reference": "The unit whose text it was compared with; empty where the metric compares with none.",
         "undefined": "JSON: by figure, why there is none."},
        "A figure; empty where it is undefined, or the row does not speak of it.",
    ),
    Table(
        "systems/references.csv", "a text that summaries were compared with", ("unit_type", "unit"),
        {"unit_type": UNIT_TYPE, "unit": UNIT, "text": "As it was."},
    ),
    Table(
        "systems/likelihoods.csv", "how likely a run finds a target, or a counterfactual of it",
        ("run", "unit", "target", "counterfactual"),
        {"run": "Number of the run.", "unit": UNIT, "target": "The unit of the target.",
         "counterfactual": "Number; empty for the target itself.", "kind": "Of the counterfactual.", "review": REVIEW,
         "content_sum": f"Sum {LIKELIHOOD} without special tokens.", "content_tokens": "How many.",
         "all_sum": f"Sum {LIKELIHOOD} of all tokens.", "all_tokens": "How many.",
         "replaced_sum": f"Sum {LIKELIHOOD} of the target's tokens that the counterfactual does without.",
         "replaced_tokens": "How many.", "changed_sum": f"Sum {LIKELIHOOD} of tokens that only the counterfactual has.",
         "changed_tokens": "How many."},
    ),
    Table(
        "systems/probes.jsonl", "what a probe comes to, as its table prints it", ("run",),
        {"run": "Number of the run.", "rows": "A kind each, and one over all, on each basis; null where they are not "
         "reckoned.", "numpy": "Its version."},
    ),
    Table(
        "systems/pairs.jsonl", "two systems by one metric, scored alike, on the units that both have",
        ("metric", "first", "second"),
        {"metric": "Its name.", "first": "Number of a run.", "second": "Number of the other run.", "rule": RULE,
         "rows": "By figure and side: " + COMPARISON + " of one figure, side and level; null where they were not "
         "compared.", "numpy": "Its version."},
    ),
    Table(
        "systems/probe_pairs.jsonl", "two probes on the pairs of a target and a counterfactual that both have judged",
        ("first", "second"),
        {"first": "Number of a run.", "second": "Number of the other run.", "rule": RULE,
         "rows": "By kind, or over all, for the delta and the accuracy over all tokens: " + COMPARISON + " of one "
         "figure, kind and level; null where they were not compared, or a probe of their level did more since.",
         "numpy": "Its version."},
    ),
    Table(
        "systems/common.jsonl", "what a probe comes to on the pairs that all probes of its level here have judged",
        ("run",),
        {"run": "Number of the run.", "of": "Numbers of the runs whose pairs in common these are.",
         "rows": "As in `systems/probes.jsonl`; null where one of these did more since.",
         "numpy": "Its version."},
    ),
    Table(
        "ratings/rounds.jsonl", "a rating round that is closed and unblinded", ("round",),
        {"round": "Its name.", "kind": "The task.", "purpose": "What its answers are for.",
         "seed": "Of the design.",
         "secret": "With the seed, what everything that could tell whose a text is was drawn by; told to nobody before "
         "the round was unblinded. Null in rounds that had none.",
         "design": "SHA-256 of the plan with the name of the rules that made it.",
         "plan": "Entrants, sources, pages with the codes of their texts and who wrote them, seed and secret.",
         "exclusions": "What was declared beforehand to be left out of figures.",
         "protocol": "Name, version, SHA-256 and content: what raters were asked, word for word.",
         "entrants": "Who took part: name, run, system, version and its SHA-256; of references the name alone.",
         "unblinded_at": TIME, "unblinded_by": RATER},
    ),
    Table(
        "ratings/figures.jsonl", "what a rating round comes to, by the tables of Results", ("round",),
        {"round": "Its name.", "rule": RULE,
         "figures": "Of everything (`all`) and without what declared rules leave out (`kept`): by criterion the figure "
         "of each system with n and intervals, pairs of systems, letters and what was said again; raters; preferences. "
         "Checks, M3's claims, labels that could not be compared, directions. Where `scored` is not null also "
         "`metrics`, means of the texts that were rated, and `correlations` of each with each criterion. Null where "
         "not reckoned.",
         "scored": "By what figures call a metric: the metric and its figure in `systems/scorings.jsonl`. Null where "
         "figures have none of metrics, as the scores that they were taken of are not in the release.",
         "numpy": "Its version."},
    ),
    Table(
        "ratings/sources.jsonl", "a source of a rating round, as raters saw it", ("round", "number"),
        {"round": "Its name.", "number": "Its place in the plan.", "source_type": UNIT_TYPE,
         "source": PAGE["source"], "target": PAGE["target"], "review": REVIEW,
         "shown": "Query, title and studies.", "gold": "Text, tuple, polarity and modality of the target then."},
    ),
    Table(
        "ratings/texts.csv", "a text of a page and one that wrote it", ("round", "page", "text", "number"),
        PAGE | {"text": "Its code on the page.", "number": "Of who wrote it; empty of a check.", "system": "Its name.",
                "shown": "As raters saw it.", "exact": "As it was written.",
                "is_check": "Whether it was made plainly bad.", "made_from": "Code of the text it was made from."},
    ),
    Table(
        "ratings/ratings.csv", "what one answer says of one text by one criterion", ("answer", "text", "criterion"),
        PAGE | SAID | {"text": "Its code on the page.", "systems": "Who wrote it; of several that wrote the same all.",
                       "value": "As the scale has it; empty where it does not apply.",
                       "na": "Whether it does not apply.", "prefilled": "Whether an earlier answer suggested it.",
                       "place": "Of the text on the rater's page, from 0.", "active_ms": ACTIVE,
                       "is_check": "Whether the text was made plainly bad."},
    ),
    Table(
        "ratings/preferences.csv", "which of two texts one answer prefers by one criterion", ("answer", "criterion"),
        PAGE | SAID | {"left": "Code of the text that the rater saw on the left.", "right": "Of the other.",
                       "left_systems": "Who wrote it.", "right_systems": "Who wrote it.",
                       "choice": "left, right, tie or neither.", "active_ms": ACTIVE, "is_check": CHECK},
    ),
    Table(
        "ratings/spans.csv", "a passage that a rating marks or quotes",
        ("answer", "text", "criterion", "is_quote", "within", "study", "start", "end"),
        SAID | {"round": "Its name.", "page": PAGE["page"], "text": "The text's code.",
                "is_quote": "Evidence for the rating; else a part of what is rated.",
                "within": "Summary or source.", "study": "Of the source, from 0; empty in a summary.",
                "start": "Code point of the text as shown.", "end": "Behind its last one.", "quote": "The passage.",
                "category": "Of the protocol.", "severity": "Of the protocol."},
    ),
    Table(
        "provenance/values.csv", "a field in force", ("unit_type", "unit", "kind", "field"),
        {"unit_type": UNIT_TYPE, "unit": UNIT, "kind": "The task.", "field": "Of that task.", "decision": "Number.",
         "origin": "How it was decided.", "answer": "UUID of the answer.", "rater": RATER,
         "guideline": "The version that the answer was given by.", "source": "Number of the imported file.",
         "round": "The round's name.", "decided_by": RATER, "decided_at": TIME,
         "reason": "In the words of who decided."},
    ),
    Table(
        "provenance/sources.csv", "an imported file", ("source",),
        {"source": "Number.", "format": "Of the file.", "level": "Of its rows.", "file": "Its name.",
         "sha256": "Of its bytes.", "size": "In bytes.", "imported_at": TIME, "imported_by": RATER},
    ),
    Table(
        "provenance/typed.csv", "a unit that was typed in by hand", ("unit_type", "unit"),
        {"unit_type": UNIT_TYPE, "unit": UNIT, "typed_by": RATER},
    ),
)  # fmt: skip


def table_of(path: str) -> Table | None:
    """What a file of rows is; None for any other file."""
    return next((table for table in TABLES if fnmatchcase(path, table.path)), None)
