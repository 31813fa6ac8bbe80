"""Which runs of one token sequence occur in others: the longest from every place, in time linear in all lengths.

A suffix automaton of the sequences read backwards, with a separator of its own between each two, so that no run
crosses from one to the next. Source: Blumer et al., The smallest automaton recognizing the subwords of a text (1985).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from itertools import accumulate
from typing import NamedTuple


class Match(NamedTuple):
    """``length`` tokens occur in sequence number ``source`` from its token ``start``; length 0: nowhere."""

    length: int
    source: int
    start: int


class SuffixAutomaton:
    """Sequences made ready once, to be searched by many; about half a kilobyte a token."""

    def __init__(self, sequences: Sequence[Sequence[Hashable]]) -> None:
        joined: list[Hashable] = []
        for sequence in sequences:
            joined.extend(sequence)
            joined.append(object())  # equal to no token
        self._size = len(joined)
        self._begins = [0, *accumulate(len(sequence) + 1 for sequence in sequences)]
        self._next: list[dict[Hashable, int]] = [{}]
        self._link = [-1]
        self._longest = [0]
        self._last = [-1]
        state = 0
        for position, token in enumerate(reversed(joined)):
            state = self._extend(state, token, position)
        # The last end of a run in the reversed text is its first begin in the text: ends pass up the suffix links.
        for each in sorted(range(1, len(self._link)), key=self._longest.__getitem__, reverse=True):
            above = self._link[each]
            self._last[above] = max(self._last[above], self._last[each])

    def longest_from(self, tokens: Sequence[Hashable]) -> list[Match]:
        """For each token the longest run that begins with it and occurs in a sequence; the first such place."""
        found = [Match(0, -1, -1)] * len(tokens)
        state = length = 0
        for i in range(len(tokens) - 1, -1, -1):
            token = tokens[i]
            while state and token not in self._next[state]:
                state = self._link[state]
                length = self._longest[state]
            if token in self._next[state]:
                state = self._next[state][token]
                length += 1
                begin = self._size - 1 - self._last[state]
                source = bisect_right(self._begins, begin) - 1
                found[i] = Match(length, source, begin - self._begins[source])
        return found

    def _extend(self, last: int, token: Hashable, position: int) -> int:
        """One more token at the end of the reversed text; the state of the whole text so far."""
        new = self._state({}, self._longest[last] + 1, position)
        at = last
        while at >= 0 and token not in self._next[at]:
            self._next[at][token] = new
            at = self._link[at]
        if at < 0:
            self._link[new] = 0
            return new
        reached = self._next[at][token]
        if self._longest[reached] != self._longest[at] + 1:
            reached = self._split(at, token, reached)
        self._link[new] = reached
        return new

    def _split(self, at: int, token: Hashable, old: int) -> int:
        """A state for the shorter of the runs that ``old`` stands for, which from now on end in more places."""
        clone = self._state(dict(self._next[old]), self._longest[at] + 1, self._last[old])
        self._link[clone], self._link[old] = self._link[old], clone
        while at >= 0 and self._next[at].get(token) == old:
            self._next[at][token] = clone
            at = self._link[at]
        return clone

    def _state(self, following: dict[Hashable, int], longest: int, last: int) -> int:
        self._next.append(following)
        self._longest.append(longest)
        self._link.append(0)
        self._last.append(last)
        return len(self._next) - 1
