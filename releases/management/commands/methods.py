"""`manage.py methods`: print the methods text of a project."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from projects.management.arguments import project_of, write_json

from ...methods.queries import compute, text_of


class Command(BaseCommand):
    help = (
        "Print the methods text of a project, for a paper. Information that neither the data nor the settings contain "
        "is marked NOT PROVIDED. json: the facts, the sections, and what is missing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG", help="Short name of the project.")
        parser.add_argument("--format", choices=("markdown", "latex", "json"), default="markdown")

    def handle(self, *args: Any, **options: Any) -> None:
        facts = compute(project_of(options["project"]))
        text = text_of(facts)
        if options["format"] == "json":
            write_json(self.stdout, {"facts": facts.as_json(), "sections": text["sections"], "gaps": text["gaps"]})
        else:
            self.stdout.write(text[options["format"]], ending="")
