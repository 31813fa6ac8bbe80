"""``sentences``: split the abstracts that were there before sentences were stored."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import QuerySet
from tqdm import tqdm

from annotation.corpus.sentences import BATCH, split, unsplit
from annotation.models import Review, Study
from projects.management.arguments import project_of


class Command(BaseCommand):
    help = (
        "Store the sentences of the abstracts of reviews and studies that came before sentences were stored. Called "
        "again, it goes on with what is left; rounds that ask of a review's sentences split what they need themselves."
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
