"""The ratings of the illustrative project: rated blind by robots with known effects, unblinded, and one round open."""

import time

import pytest

from evaluation.models import Rating, Unblinding
from generation.models import Seal
from operations.robot.history import play_history
from operations.robot.labels import from_file
from operations.robot.ratings import OPEN, RATED, ROUND, SEVERITY, SYSTEMS, play_ratings
from operations.sample_project import SAMPLE, seed
from projects.models import Round

pytestmark = pytest.mark.django_db


def test_robots_rate_what_four_systems_wrote_and_a_round_waits_for_the_evaluator() -> None:
    project = seed().project
    play_history(project, truth=from_file(SAMPLE))
    began = time.process_time()
    assert play_ratings(project)
    assert time.process_time() - began < 30, "a newcomer waits for this"
    rated = Round.objects.get(project=project, name=ROUND)
    clusters = len(SAMPLE.read_text(encoding="utf-8").splitlines())
    assert (rated.status, rated.units_count) == ("closed", clusters)
    assert Unblinding.objects.filter(design__round=rated).exists()
    said = Rating.objects.filter(answer__assignment__round=rated, criterion="coherence")
    assert said.values("answer__author").distinct().count() == len(SEVERITY)
    # The systems come out in the order in which they were made.
    means = {}
    for number, name in enumerate(sorted(list(SYSTEMS)[:RATED], key=list(SYSTEMS).index)):
        values = [int(v) for v, of in said.values_list("value", "text__entrants") if number in of]
        means[name] = sum(values) / len(values)
    assert means["TextRank"] > means["Random sentences"]
    waiting = Round.objects.get(project=project, name=OPEN)
    assert waiting.status == "open"
    sealed = set(Seal.objects.in_force().values_list("member__user__email", flat=True))
    assert sealed == {"evaluator@example.org"}, "what was rated can be read again by all"
    assert not play_ratings(project)
