"""`manage.py agreement`: print the agreement report of a round."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.management.arguments import add_format, project_of, write_json
from projects.models import Round

from ...agreement import queries as agreement_queries


class Command(BaseCommand):
    help = "Print the agreement report of a round: each coefficient with n, confidence interval and method."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG", help="Short name of the project.")
        parser.add_argument("--round", required=True, metavar="NAME", help="Name of the round.")
        add_format(parser)
        parser.add_argument("--bootstrap", type=int, default=2000, help="Has no effect; kept for older scripts.")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_of(options["project"])
        round = Round.objects.select_related("project").filter(project=project, name=options["round"]).first()
        if round is None:
            raise CommandError(f"{project.slug} has no round {options['round']!r}.")
        report = agreement_queries.report(round)
        if options["format"] == "json":
            write_json(self.stdout, report)
        else:
            for line in as_text(report):
                self.stdout.write(line)


def as_text(report: dict[str, Any]) -> list[str]:
    """Return the report as lines of text for a terminal."""
    # In a rating round, several texts of one unit are rated.
    answered, units = report["units_answered"], report["units"]
    of = f"{answered} texts in {units} units" if answered > units else f"{answered} of {units} units"
    by = f"by {len(report['raters'])} people"
    lines = [f"{report['round']} ({report['project']}): {report['answers']} answers to {of} {by}"]
    for measure in report["measures"]:
        agree = measure["all_agree"]
        pairwise = "undefined" if measure["pairwise"] is None else f"{100 * measure['pairwise']:.1f}%"
        lines += [
            "",
            f"{measure['name']}: {' / '.join(measure['scale'])} (weights: {measure['weights']})",
            f"  n = {measure['units']} units, {measure['raters']} raters, {measure['ratings']} ratings",
            f"  intervals over {measure['reviews'] or measure['units']} reviews: {measure['interval_method']}",
            f"  all agree {agree['count']}/{agree['of']}, mean pairwise {pairwise}",
        ]
        for name, value in measure["coefficients"].items():
            if name != "cohen_pairs":
                lines.append(f"  {name:<18} {_figure(value)}  {value['method']}")
        lines += [f"  {line}" for line in kappas(measure)]
        lines += [f"  {name:<18} undefined: {why}" for name, why in measure["undefined"].items()]
        lines += [f"  note: {warning}" for warning in measure["warnings"]]
    lines += _corrections(report["review"]) if "review" in report else []
    for spans in report["spans"]:
        value = "undefined: " + spans["undefined"] if spans["value"] is None else f"{spans['value']:.3f}"
        lines.append(f"{spans['name']}, {spans['method']}: {value} (n = {spans['pairs']} pairs)")
    return lines


def kappas(measure: dict[str, Any]) -> list[str]:
    """Return lines with Cohen's kappa of each pair of raters.

    For an ordered scale, give the unweighted and the weighted form, and which one to cite.
    """
    if "unweighted" not in measure:
        return [f"cohen {_of(pair)}: {_kappa(pair)}" for pair in measure["coefficients"]["cohen_pairs"]]
    weighted = {tuple(pair["raters"]): pair for pair in measure["coefficients"]["cohen_pairs"]}
    lines = []
    for pair in measure["unweighted"]["coefficients"]["cohen_pairs"]:
        other = weighted.get(tuple(pair["raters"]))
        beside = f"weighted ({measure['weights']}) {_kappa(other)}" if other else "weighted: not enough ratings"
        lines.append(f"cohen {_of(pair)}: unweighted {_kappa(pair)}; {beside}; cite: {measure['cite_form']}")
    return lines


def _of(pair: dict[str, Any]) -> str:
    return " ~ ".join(pair["raters"])


def _kappa(pair: dict[str, Any]) -> str:
    if pair["value"] is None:
        return f"undefined ({pair.get('undefined')}), n = {pair['units']}"
    return f"{pair['value']:.3f}, n = {pair['units']}{_interval(pair)}"


def _corrections(review: dict[str, Any]) -> list[str]:
    """Return lines on the current values that were reviewed."""
    lines = ["", f"{review['corrected']} of {review['reviewed']} corrected. {review['note']}"]
    lines += [f"  {f['field']:<18} {f['corrected']} of {f['reviewed']} corrected" for f in review["fields"]]
    for m in review["measures"]:
        kappa = f"undefined: {m['undefined']}" if m["kappa"] is None else f"{m['kappa']:.3f}{_interval(m)}"
        lines.append(f"  {m['name']}, shown and corrected: {kappa}, n = {m['n']}  {m['method']}")
    return lines


def _figure(coefficient: dict[str, Any]) -> str:
    return f"{coefficient['value']:.3f}{_interval(coefficient)}"


def _interval(coefficient: dict[str, Any]) -> str:
    """Return the confidence interval of a figure, or the reason why there is none."""
    ci = coefficient["ci"]
    return f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else f" ({coefficient['ci_reason']})"
