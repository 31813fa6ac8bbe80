"""M3's Table 7 as M3 prints it, a row a system; and the same on the pairs that every system has judged."""

from dataclasses import replace

from measures.probe import OVERALL, ProbeResult
from projects.tables import Cell, Column, Missing, Table

from ..scoring.reckoning import KINDS
from .building import ScoresTable
from .m3_7 import NOTE, ProbeTable, delta_of, few, figure_cell, flagged, lost, missing
from .probed import Probed
from .scored import Scores, by_version, listed, versions


class WideProbeTable(ScoresTable):
    key = "m3-7-wide"
    beside = "m3-7"
    title = "A row a system: counterfactual probe (M3, Table 7)"

    def build(self, scores: Scores) -> Table:
        found = scores.probed
        columns = [Column("System", False), Column("Level", False)]
        for kind in (*KINDS, OVERALL):
            name = kind[:1].upper() + kind[1:]
            columns += [Column(f"{name}: delta"), Column(f"{name}: accuracy")]
        return Table(
            self.key,
            self.title,
            f"Delta and accuracy of the probe by kind of counterfactual, {scores.project.name}: a row for every "
            "system; n counts pairs, of the accuracy as of the delta before it.",
            columns,
            [self._row(probed) for probed in found if probed.results],
            [
                NOTE,
                *flagged(found),
                *lost(found),
                *few(found),
                *versions((p.name, p.run) for p in found),
                *scores.hidden(),
            ],
            missing(scores, found),
            self.beside,
        )

    def _row(self, probed: Probed) -> list[Cell]:
        cells = [Cell(probed.name), Cell(probed.level)]
        for result in probed.results:
            cells += [_with_n(delta_of(result), result), figure_cell(result.accuracy, 2)]
        return cells


class CommonProbeTable(ProbeTable):
    key = "m3-7-common"
    beside = "m3-7"
    title = "On common pairs: counterfactual probe (M3, Table 7)"

    def build(self, scores: Scores) -> Table:
        found = [restricted for restricted in scores.common if restricted.results]
        whole = {probed.run.pk: probed.results[-1].n for probed in scores.probed if probed.results}
        return Table(
            self.key,
            self.title,
            "Whether a system finds the true target likelier than a counterfactual of it, on the pairs that every "
            f"system of a level has judged and no others, {scores.project.name}: a row for every system and kind; n "
            "counts pairs.",
            self.columns(),
            self.rows(found),
            [
                NOTE,
                *(f"Of {p.called} {p.results[-1].n} of {whole[p.run.pk]} pairs are in it." for p in found),
                *flagged(found), *few(found), *versions((p.name, p.run) for p in found), *scores.hidden(),
            ],
            [*missing(scores, scores.probed), *self._missing(scores)],
            self.beside,
        )  # fmt: skip

    def _missing(self, scores: Scores) -> list[Missing]:
        """Whoever is reckoned again restricts all of them."""
        lacking = [restricted for restricted in scores.common if not restricted.results]
        if not lacking:
            return []
        page = f"/projects/{scores.project.slug}/systems"
        last = list({probed.level: probed for probed in lacking}.values())
        words = f"the pairs that {listed(probed.called for probed in lacking)} have in common"
        return [Missing(words, by_version("probe", [probed.run for probed in last]), page)]


def _with_n(cell: Cell, result: ProbeResult) -> Cell:
    return cell if cell.undefined else replace(cell, n=result.n)
