"""Sentences on the pilot that a round had to wait for."""

from collections.abc import Iterator

from measures.agreement import bars

from ..facts.gates import GateFacts, GateReadingFacts
from ..text import count, day, figure, interval, quoted


def sentences(gate: GateFacts, round: str = "The round") -> Iterator[str]:
    """Yield the bar, each reading of it, and how often it was read in the project."""
    bound = f"the lower bound of the {gate.level:.0%} interval of " * (gate.requires == "lower bound")
    least = f" with n of at least {gate.least_units:,}" if gate.least_units else ""
    yield (
        f"{round} waited for the pilot round {quoted(gate.pilot)}: {bound}{bars.NAMES[gate.coefficient]} of "
        f"{gate.measure} had to be at least {figure(gate.number)}{least}."
    )
    for reading in gate.readings:
        yield _reading(gate, reading)
    if gate.read > 1:
        yield f"Bars on this figure were read {gate.read:,} times in the project."


def _reading(gate: GateFacts, reading: GateReadingFacts) -> str:
    on = day(reading.read_on)
    if reading.reason:
        return f"A lead opened the round on {on} without meeting the bar. Reason: {quoted(reading.reason)}."
    met = "met" if reading.outcome == "met" else "not met"
    if reading.figures is None:
        return f"The pilot was read on {on}, and the bar was {met}; its figures are still blind."
    why = f" ({'; '.join(reading.obstacles)})" if reading.obstacles else ""
    return f"The closed pilot had {_figures(gate, reading.figures)} on {on}; the bar was {met}{why}."


def _figures(gate: GateFacts, figures: bars.Figures) -> str:
    ratings = f"{count(figures.ratings, 'rating')} by {count(figures.raters, 'rater')}"
    basis = f"n = {count(figures.units, 'unit')}, {ratings}"
    if figures.value is None:
        return f"no value ({figures.reason}; {basis})"
    between = interval(figures.ci, 0.95) if figures.ci else figures.reason
    bound = "" if figures.bound is None else f"lower bound at {gate.level:.0%} {figure(figures.bound)}"
    return f"{figure(figures.value)} ({'; '.join(filter(None, (between, bound, basis)))})"
