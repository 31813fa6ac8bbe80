"""The report of a split as lines and as JSON, for the command."""

from collections.abc import Iterator, Mapping
from typing import Any

from .computing import Computed
from .parameters import SplitParameters


def as_json(asked: SplitParameters, computed: Computed) -> dict[str, Any]:
    """Return what was asked, the report, and the part of each unit."""
    names = [part.name for part in computed.parts]
    parts = {
        key: names[part] for key, part in zip(computed.corpus.units.keys, computed.part_of, strict=True) if part >= 0
    }
    return {"asked": asked.as_json() | {"level": computed.corpus.level}, "report": computed.report, "parts": parts}


def lines(asked: SplitParameters, computed: Computed) -> Iterator[str]:
    report, names = computed.report, [part.name for part in computed.parts]
    yield f"{asked.name}: {report['units']:,} units (level {computed.corpus.level}) of {report['reviews']:,} reviews"
    if report["in_no_part"]:
        yield f"In no part: {report['in_no_part']:,} units"
    components = report["components"]
    largest = components["largest"]
    sizes = ", ".join(f"{size:,}" for size in components["sizes"][1:])
    yield (
        f"{components['count']:,} components; the largest has {largest['units']:,} of {largest['of']:,} units from "
        f"{largest['reviews']:,} reviews, in {' and '.join(largest['parts']) or 'no part'}"
        + (f"; the next have {sizes}" if sizes else "")
    )
    if components["divided"]:
        yield f"Components in several parts: {components['divided']:,}"
    if larger := largest["larger_than"]:
        yield f"The largest component is larger than {' and '.join(larger)}."
    yield ""
    yield from _strata(report, names, [part.share for part in computed.parts])
    for name, reason in report["left_out_strata"].items():
        yield f"Without the stratum {name}: {reason}."
    yield ""
    yield from _shared(report)


def _shared(report: Mapping[str, Any]) -> Iterator[str]:
    has_pmids = any(part["pmids"] for part in report["leakage"]["parts"])
    yield "Shared by parts: PMIDs, equal texts, near-equal texts" + ("; PMIDs at random" if has_pmids else "")
    for pair, random in zip(report["leakage"]["pairs"], report["random"]["pairs"], strict=True):
        near = f"{pair['near']['count']:,}" if pair["near"] else "not searched"
        yield (
            f"  {' and '.join(pair['parts'])}: {pair['pmids']['count']:,}, {pair['texts']['count']:,}, {near}"
            + (f"; {random['pmids']:,}" if has_pmids else "")
        )
        if first := pair["pmids"]["first"]:
            yield f"    PMID {', '.join(first[:5])}{' ...' if pair['pmids']['count'] > 5 else ''}"
    if has_pmids:
        yield (
            f"At random: mean of {report['random']['repeats']} splits by review. {report['random']['clean_over_all']} "
            "of them share no PMID over all parts at once, which is all that the test of MS^2 looks for."
        )


def _strata(report: Mapping[str, Any], names: list[str], shares: list[float]) -> Iterator[str]:
    width = max(len(_name(row)) for row in report["strata"])
    head = "".join(f"{name} {100 * share:.0f}%".rjust(18) for name, share in zip(names, shares, strict=True))
    yield f"{'Units (deviation in points)'.ljust(max(width, 27))}{head}"
    for row in report["strata"]:
        cells = "".join(
            f"{count:,} ({deviation:+.1f})".rjust(18)
            for count, deviation in zip(row["counts"], row["deviations"], strict=True)
        )
        yield f"{_name(row).ljust(max(width, 27))}{cells}"


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['name']} {row['value']}" if row["name"] else "all"
