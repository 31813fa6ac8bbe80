"""Recompute pairwise comparisons of systems, probes on common pairs, and scores that are computed from texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import Any

from .. import former
from ..comparison import FORMER_RULE, RULE, ScoredUnits, holm, probes_compared, scores_compared
from ..counterfactuals import Kind
from ..probe import FORMER_RULE as FORMER_PROBE_RULE
from ..probe import RULE as PROBE_RULE
from ..probe import Pair, ProbeError, paired, probe_tables
from ..references import WRITTEN_LEVELS
from ..repetition import length_of, repetition
from ..rouge import EVERY_ROUGE_KIND, RougeText, rouge
from ..stated_direction import compare_directions
from .files import Findings, Folder, InvalidRelease
from .scores import (
    LIKELIHOODS,
    PROBES,
    REFERENCES,
    RUNS,
    SCORINGS,
    SUMMARIES,
    bounds_in,
    judged_in,
    name_of,
    score_rows,
    values_in,
)

PAIRS, PROBE_PAIRS, COMMON = "systems/pairs.jsonl", "systems/probe_pairs.jsonl", "systems/common.jsonl"
KINDS = [kind.value for kind in Kind]
Json = dict[str, Any]
Judged = dict[tuple[Hashable, Hashable], Pair]
#: Numbers of two runs, in the order of the tables.
RunPair = tuple[int, int]


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute every comparison. Raise `InvalidRelease` for invalid files."""
    try:
        runs = {line["run"]: line for line in folder.lines(RUNS)}
        _compare_scores(folder, findings, runs)
        _compare_probes(folder, findings, runs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRelease(f"systems: a row lacks a required field ({error!r})") from None


def _compare_scores(folder: Folder, findings: Findings, runs: Mapping[int, Json]) -> None:
    metrics: dict[str, dict[int, Json]] = defaultdict(dict)
    for line in folder.lines(SCORINGS):
        if line["compared"] and line["means"] is not None:
            metrics[line["metric"]][line["run"]] = line
    printed: dict[str, dict[RunPair, Json]] = defaultdict(dict)
    for line in folder.lines(PAIRS):
        printed[line["metric"]][line["first"], line["second"]] = line
    for metric in sorted(metrics.keys() | printed.keys()):
        scorings = metrics[metric]
        wanted = [
            (first, second)
            for first, second in _run_pairs(runs, scorings)
            if _settings_of(scorings[first]) == _settings_of(scorings[second])
        ]
        lines = _recomputable(findings, PAIRS, f"{metric} of ", runs, wanted, printed[metric])
        if not lines:
            continue
        units = _units(folder, scorings)
        recomputed = {}
        for runs_compared, line in lines.items():
            with former.rule(line["rule"] == FORMER_RULE):
                recomputed[runs_compared] = scores_compared(
                    units[runs_compared[0]],
                    units[runs_compared[1]],
                    bounds_in(scorings[runs_compared[0]]),
                    ranks=runs[runs_compared[0]]["level"] in WRITTEN_LEVELS,
                )
        _compare_families(findings, PAIRS, f"{metric} of ", runs, lines, recomputed, "side")


def _settings_of(scoring: Json) -> tuple[Json, Json]:
    return scoring["params"], scoring["libraries"]


def _units(folder: Folder, scorings: Mapping[int, Json]) -> dict[int, ScoredUnits]:
    """Return by run the scores of a metric on which systems are compared."""
    units_by_run = {run: ScoredUnits(line["compared"]) for run, line in scorings.items()}
    for file in {line["scores"] for line in scorings.values()}:
        for row in score_rows(folder, file, scorings):
            if units := units_by_run.get(row.run):
                units.add((row.unit, *row.reference), row.review, row.side, row.values)
    return units_by_run


def _compare_probes(folder: Folder, findings: Findings, runs: Mapping[int, Json]) -> None:
    computed_probes = [line["run"] for line in folder.lines(PROBES) if line["rows"] is not None]
    printed = {(line["first"], line["second"]): line for line in folder.lines(PROBE_PAIRS)}
    wanted = _run_pairs(runs, computed_probes)
    lines = _recomputable(findings, PROBE_PAIRS, "probes of ", runs, wanted, printed)
    common = list(folder.lines(COMMON))
    judged = _likelihood_pairs(folder) if lines or common else {}
    recomputed = {}
    for runs_compared, line in lines.items():
        if runs_compared[0] in judged and runs_compared[1] in judged:
            with former.rule(line["rule"] == FORMER_RULE):
                recomputed[runs_compared] = probes_compared(judged[runs_compared[0]], judged[runs_compared[1]], KINDS)
    _compare_families(findings, PROBE_PAIRS, "probes of ", runs, lines, recomputed, "kind")
    _compare_common(findings, runs, {run for runs_compared in wanted for run in runs_compared}, common, judged)


def _likelihood_pairs(folder: Folder) -> dict[int, Judged]:
    """Return likelihood pairs by run. Runs with invalid likelihoods are left out; `scores` reports them."""
    pairs = {}
    for run, rows in judged_in(folder).items():
        with suppress(ProbeError, ValueError):
            pairs[run] = paired(rows)
    return pairs


def _compare_common(
    findings: Findings, runs: Mapping[int, Json], wanted: set[int], lines: Sequence[Json], judged: Mapping[int, Judged]
) -> None:
    """Recompute Table 7 on the pairs that all runs have. ``wanted`` holds the computed runs if there are several."""
    for run in sorted(wanted - {line["run"] for line in lines}):
        findings.add_difference(f"{COMMON}: {name_of(runs, run)} is missing")
    for line in lines:
        name = f"{name_of(runs, line['run'])} on common pairs"
        if line["rows"] is None:
            findings.not_recomputed.append(f"{name}: a probe of its level had more results at the time of the release")
            continue
        rules = {row["method"] for row in line["rows"]}
        if _has_unknown_rule(findings, name, rules, {PROBE_RULE, FORMER_PROBE_RULE}):
            continue
        level_runs = sorted(run for run in wanted if runs[run]["level"] == runs[line["run"]]["level"])
        findings.compare(COMMON, f"{name}, of", sorted(line["of"]), level_runs)
        if not set(level_runs) <= judged.keys():
            continue
        keys = set.intersection(*(set(judged[run]) for run in level_runs))
        pairs = [pair for key, pair in judged[line["run"]].items() if key in keys]
        is_former = FORMER_PROBE_RULE in rules
        with former.rule(is_former):
            recomputed = _by_names([row.as_json() for row in probe_tables(pairs, KINDS)], "kind", "basis")
        printed = _by_names(line["rows"], "kind", "basis")
        findings.compare(
            COMMON, name, printed, former.in_former_words(printed, recomputed) if is_former else recomputed
        )


def _run_pairs(runs: Mapping[int, Json], chosen_runs: Iterable[int]) -> list[RunPair]:
    """Return all pairs of runs of the same level, in the order of the runs."""
    chosen = set(chosen_runs)
    return [
        (first, second)
        for first, second in combinations([run for run in runs if run in chosen], 2)
        if runs[first]["level"] == runs[second]["level"]
    ]


def _recomputable(
    findings: Findings,
    file: str,
    prefix: str,
    runs: Mapping[int, Json],
    wanted: Iterable[RunPair],
    printed: Mapping[RunPair, Json],
) -> dict[RunPair, Json]:
    """Return the lines that can be recomputed. For the others, record the reason."""
    for runs_compared in wanted:
        if runs_compared not in printed:
            findings.add_difference(f"{file}: {prefix}{_pair_name(runs, runs_compared)} are not compared")
    lines = {}
    for runs_compared, line in printed.items():
        name = f"{prefix}{_pair_name(runs, runs_compared)}"
        if line["rows"] is None:
            findings.not_recomputed.append(f"{name}: not compared at the time of the release")
        elif runs_compared not in wanted:
            findings.add_difference(f"{file}: {name} are compared, although their settings differ")
        elif not _has_unknown_rule(findings, name, {line["rule"]}, {RULE, FORMER_RULE}):
            lines[runs_compared] = line
    return lines


def _has_unknown_rule(findings: Findings, name: str, rules: set[str], known: set[str]) -> bool:
    unknown = sorted(rules - known)
    if unknown:
        findings.not_recomputed.append(f"{name}: computed by another rule: {'; '.join(unknown)}")
    return bool(unknown)


def _compare_families(
    findings: Findings,
    file: str,
    prefix: str,
    runs: Mapping[int, Json],
    lines: Mapping[RunPair, Json],
    recomputed: Mapping[RunPair, list[Json]],
    against: str,
) -> None:
    """Compare printed and recomputed rows after adjusting p over all pairs of a figure."""
    families: dict[tuple[str, str, str], list[Json]] = defaultdict(list)
    for runs_compared, rows in recomputed.items():
        for row in rows:
            families[runs[runs_compared[0]]["level"], row["figure"], row[against]].append(row)
    for family in families.values():
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
    for runs_compared, rows in recomputed.items():
        name = f"{prefix}{_pair_name(runs, runs_compared)}"
        printed, computed = (_by_names(each, "figure", against) for each in (lines[runs_compared]["rows"], rows))
        if lines[runs_compared]["rule"] == FORMER_RULE:
            computed = former.in_former_words(printed, computed)
        findings.compare(file, name, printed, computed)


def _by_names(rows: Iterable[Json], *names: str) -> Json:
    return {", ".join(row[name] for name in names): row for row in rows}


def _pair_name(runs: Mapping[int, Json], runs_compared: RunPair) -> str:
    return f"{name_of(runs, runs_compared[0])} and {name_of(runs, runs_compared[1])}"


Values = dict[str, float | None]
#: Computes the scores of a summary from its text and the text of its reference, if any.
Score = Callable[[str, str | None], Values]
#: Metrics whose scores need model weights and are not recomputed.
WEIGHTS = {"bertscore", "direction"}


def recompute_texts(folder: Folder, findings: Findings) -> None:
    """Recompute every score that depends on texts only, and count the others. Raise `InvalidRelease`."""
    try:
        outputs = {str(row["summary"]): row["text"] for row in folder.lines(SUMMARIES)}
        references = {(row["unit_type"], row["unit"]): row["text"] for row in folder.rows(REFERENCES)}
        files: dict[str, dict[str, dict[str, Any]]] = {}
        for line in folder.lines(SCORINGS):
            files.setdefault(line["scores"], {})[str(line["run"])] = line
        for file, scorings in files.items():
            _scores(folder, findings, file, scorings, outputs, references)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRelease(f"systems: a row lacks a required field ({error!r})") from None
    if likelihoods := sum(1 for _ in folder.rows(LIKELIHOODS)):
        findings.not_recomputable.append(
            f"{likelihoods} rows of {LIKELIHOODS}: recomputing them needs the weights of the models"
        )


def _scores(
    folder: Folder,
    findings: Findings,
    file: str,
    scorings: Mapping[str, Mapping[str, Any]],
    outputs: Mapping[str, str],
    references: Mapping[tuple[str, str], str],
) -> None:
    """Recompute the scores of one metric, which share a file."""
    metric = next(iter(scorings.values()))["metric"]
    score = {run: _scorer(line) for run, line in scorings.items()}
    skipped = 0
    for row in folder.rows(file):
        values, _ = values_in(row, file)
        scorer, defined = score[row["run"]], [name for name, value in values.items() if value is not None]
        if scorer is None:
            skipped += len(defined)
        elif defined:
            key = (row["reference_type"], row["reference"])
            name = f"summary {row['summary']}{f' against {key[1]}' if key[1] else ''}"
            if row["summary"] not in outputs or (key[1] and key not in references):
                findings.add_difference(f"{file}: {name}: its text is missing")
                continue
            recomputed = scorer(outputs[row["summary"]], references[key] if key[1] else None)
            findings.compare(file, name, {n: values[n] for n in defined}, {n: recomputed.get(n) for n in defined})
    if skipped and metric in WEIGHTS:
        findings.not_recomputable.append(f"{skipped} values of {file}: recomputing them needs the weights of a model")
    elif skipped and metric == "copying":
        findings.not_recomputable.append(f"{skipped} values of {file}: not all input texts are released")
    elif skipped:
        findings.not_recomputed.append(f"{skipped} values of {file}")


def _scorer(scoring: Mapping[str, Any]) -> Score | None:
    """Return the function that computes a metric's scores from texts, or None if there is none."""
    metric, params = scoring["metric"], scoring["params"]
    if metric == "rouge":
        return partial(_rouge, stemmer=params["stemmer"])
    if metric in ("bleu", "chrf"):
        return _sacre(scoring)
    return {"length": _length, "repetition": _repetition, "stated_direction": _stated_direction}.get(metric)


def _rouge(text: str, reference: str | None, *, stemmer: bool) -> Values:
    texts = RougeText(text, stemmer=stemmer), RougeText(reference or "", stemmer=stemmer)
    scores = rouge(*texts, kinds=EVERY_ROUGE_KIND)
    parts = ("f1", "precision", "recall")
    return {f"{kind}_{part}": getattr(prf, part) for kind, prf in scores.items() for part in parts}


def _length(text: str, reference: str | None) -> Values:
    length = length_of(text)
    if reference is not None:
        words = length_of(reference).words
        return {"words_ratio": length.words / words if words else None}
    return {"words": length.words, "sentences": length.sentences, "characters": length.characters}


def _repetition(text: str, reference: str | None) -> Values:
    result = repetition(text)
    shares: Values = {f"repeated_{ngrams.n}": ngrams.repeated_share for ngrams in result.ngrams}
    return shares | {"repeated_sentences": result.repeated_sentences}


def _stated_direction(text: str, reference: str | None) -> Values:
    return {**(compare_directions(text, reference or "") or {})}


def _sacre(scoring: Mapping[str, Any]) -> Score | None:
    """Return BLEU or chrF, or None unless the installed sacrebleu has the version that was used."""
    try:
        import sacrebleu
    except ImportError:
        return None
    if scoring["libraries"].get("sacrebleu") != sacrebleu.__version__:
        return None
    from .. import bleu

    first = {"bleu": bleu.bleu, "chrf": bleu.chrf}[scoring["metric"]]
    return lambda text, reference: {scoring["metric"]: first(text, [reference or ""]).score}
