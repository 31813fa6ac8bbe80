"""Sort any number of findings in constant memory: they are stored in a temporary file and sorted by short keys."""

import json
from array import array
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile

import numpy as np

from measures.consistency import Finding, order

#: Bytes kept in memory before the file is written to disk.
IN_MEMORY = 1 << 20


class SortedFindings:
    """Findings sorted by `measures.consistency.order`. Equal findings keep their order of insertion."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - it lasts as long as the findings
        self._starts, self._rules, self._information = array("q"), array("b"), array("b")
        self._weights = array("d")
        for finding in findings:
            self._add(finding)

    def _add(self, finding: Finding) -> None:
        rule, is_information, weight = order(finding)
        self._starts.append(self._file.tell())
        self._rules.append(rule)
        self._information.append(is_information)
        self._weights.append(weight)
        parts = (finding.rule, finding.units, finding.reason, finding.rests_on, finding.weight, finding.is_information)
        self._file.write(json.dumps(parts).encode() + b"\n")

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Finding]:
        for place in np.lexsort((self._weights, self._information, self._rules)).tolist():
            self._file.seek(self._starts[place])
            rule, units, reason, rests_on, weight, is_information = json.loads(self._file.readline())
            yield Finding(rule, tuple(units), reason, tuple(rests_on), weight, is_information)
