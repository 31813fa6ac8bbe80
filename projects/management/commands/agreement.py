"""`manage.py agreement`: the whole agreement report of a round."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.models import Round
from projects.rounds import agreement


class Command(BaseCommand):
    help = "Print the agreement of a round: every coefficient with its n, interval and method."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--round", required=True, metavar="NAME")
        parser.add_argument("--format", choices=["text", "json"], default="text")
        parser.add_argument("--bootstrap", type=int, default=2000, help="Replicates; 0 for none.")

    def handle(self, *args: Any, **options: Any) -> None:
        round = (
            Round.objects.select_related("project")
            .filter(project__slug=options["project"], name=options["round"])
            .first()
        )
        if round is None:
            raise CommandError(f"There is no round {options['round']!r} in a project {options['project']!r}.")
        report = agreement.report(round, bootstrap=options["bootstrap"])
        if options["format"] == "json":
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))
        else:
            for line in as_text(report):
                self.stdout.write(line)


def as_text(report: dict[str, Any]) -> list[str]:
    """The report as a table a person reads in a terminal."""
    lines = [
        f"{report['round']} ({report['project']}): {report['answers']} answers to {report['units_answered']} of "
        f"{report['units']} units by {len(report['raters'])} people"
    ]
    for measure in report["measures"]:
        agree = measure["all_agree"]
        pairwise = "undefined" if measure["pairwise"] is None else f"{100 * measure['pairwise']:.1f} %"
        lines += [
            "",
            f"{measure['name']}: {' / '.join(measure['scale'])} (weights: {measure['weights']})",
            f"  n = {measure['units']} units, {measure['raters']} raters, {measure['ratings']} ratings",
            *_reviews(measure),
            f"  all agree {agree['count']}/{agree['of']}, mean pairwise {pairwise}",
        ]
        for name, value in measure["coefficients"].items():
            if name != "cohen_pairs":
                lines.append(f"  {name:<18} {_figure(value)}  {value['method']}")
        for pair in measure["coefficients"]["cohen_pairs"]:
            value = f"{pair['value']:.3f}" if pair["value"] is not None else f"undefined ({pair.get('undefined')})"
            lines.append(f"  cohen {' ~ '.join(pair['raters'])}: {value}, n = {pair['units']}")
        lines += [f"  {name:<18} undefined: {why}" for name, why in measure["undefined"].items()]
        lines += [f"  note: {warning}" for warning in measure["warnings"]]
    lines += _corrections(report["review"]) if "review" in report else []
    for spans in report["spans"]:
        value = "undefined: " + spans["undefined"] if spans["value"] is None else f"{spans['value']:.3f}"
        lines.append(f"{spans['name']}, {spans['method']}: {value} (n = {spans['pairs']} pairs)")
    return lines


def _corrections(review: dict[str, Any]) -> list[str]:
    """What became of values that were shown to be reviewed."""
    lines = ["", f"{review['corrected']} of {review['reviewed']} corrected. {review['note']}"]
    lines += [f"  {f['field']:<18} {f['corrected']} of {f['reviewed']} corrected" for f in review["fields"]]
    for m in review["measures"]:
        kappa = f"undefined: {m['undefined']}" if m["kappa"] is None else f"{m['kappa']:.3f}{_interval(m['ci'])}"
        lines.append(f"  {m['name']}, shown and corrected: {kappa}, n = {m['n']}  {m['method']}")
    return lines


def _reviews(measure: dict[str, Any]) -> list[str]:
    """Which of two intervals is to be cited."""
    if measure["cite"] == "units":
        return []
    return [f"  {measure['reviews']} reviews: the first interval is over these, and to be cited; the second over units"]


def _figure(coefficient: dict[str, Any]) -> str:
    over = coefficient["reviews"]
    first = [_interval(over["ci"]) or f" ({over['undefined']})"] if over else []
    return "".join([f"{coefficient['value']:.3f}", *first, _interval(coefficient["ci"])])


def _interval(ci: list[float] | None) -> str:
    return f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else ""
