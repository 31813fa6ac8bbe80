"""``sentences``: split and store the abstracts that have no stored sentences."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import QuerySet
from tqdm import tqdm

from annotation.models import Review, Study
from projects.management.arguments import project_of

from ...clusters.sentences import BATCH, split, unsplit


class Command(BaseCommand):
    help = (
        "Split and store the sentences of abstracts that were stored by earlier versions. A second run continues with "
        "the remaining abstracts. Rounds that need sentences also split their own abstracts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")

    def handle(self, *, project: str, **options: Any) -> None:
        of = project_of(project)
        reviews = unsplit(Review.objects.filter(project=of)).order_by("pk")
        studies = unsplit(Study.objects.filter(project=of)).order_by("pk")
        total, sentences = reviews.count() + studies.count(), 0
        with tqdm(total=total, disable=not sys.stderr.isatty(), leave=False) as bar:
            for articles in chain(_batches(reviews), _batches(studies)):
                with transaction.atomic():
                    sentences += split(articles)
                bar.update(len(articles))
        self.stdout.write(f"{sentences:,} sentences of {total:,} abstracts stored.")


def _batches(articles: QuerySet[Any]) -> Iterator[Sequence[Any]]:
    after = 0
    while batch := list(articles.filter(pk__gt=after)[:BATCH]):
        after = batch[-1].pk
        yield batch
