"""The probe as a run: from counterfactuals to the figures of the command."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.db.utils import DatabaseError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.formats.counterfactuals.records import NewCounterfactual, add_counterfactuals
from annotation.models import Cluster, Counterfactual
from api.problems import Refused
from generation import backends
from generation.backends.protocol import Failure, Likelihood, Probed, ProbedUnit
from generation.models import ItemStatus, ProbeScore, Run, RunStatus, Version
from generation.probing.purpose import Probing, pairs_of, sum_changed_tokens
from generation.runs.actions import start_run
from generation.systems.actions import create_system, make_version
from measures.counterfactuals import Kind
from projects.models import Import, Project
from tests.builders import TEXT, build_cluster
from tests.generation.staged import Staged, StagedBackend
from tests.generation.test_sources import levels
from tests.generation.workers import staged_version, work

__all__ = ["levels"]
#: Backends with weights.
NEURAL = {"seq2seq", "multi_encode", "chat"}
Models = Callable[[str], str]
TEXTS = {
    Kind.NEGATION: TEXT.replace("Neither", "Both").replace("nor", "and"),
    Kind.MODALITY: TEXT.replace("had", "may have had"),
}


def add(
    cluster: Cluster, texts: dict[Kind, str] = TEXTS, name: str = "a.csv", version: int = 1
) -> list[Counterfactual]:
    imported, _ = Import.objects.get_or_create(
        project=cluster.project,
        sha256=name,
        defaults={"format": "counterfactuals", "file_name": name, "size": 1, "created_at": timezone.now()},
    )
    target = cluster.propositions.current().select_related("unit").get(position=0)
    return list(
        add_counterfactuals(
            rows=[NewCounterfactual(target, kind, text, version) for kind, text in texts.items()], imported=imported
        )
    )


@pytest.fixture
def clusters(project: Project) -> list[Cluster]:
    """Three clusters, of which the first and the last have counterfactuals."""
    made = [build_cluster(project, number) for number in range(3)]
    add(made[0])
    add(made[2], {Kind.NEGATION: TEXTS[Kind.NEGATION]})
    return made


def likelihood(words: str) -> Likelihood:
    """One token per word, between ``<s>`` and ``</s>``; rare words are less likely. Both special tokens cost 1."""
    ids = tuple(sum(map(ord, word)) for word in words.split())
    costs = tuple(2.0 if word in ("Both", "and", "may") else 0.5 for word in words.split())
    return Likelihood((0, *ids, 2), (1.0, *costs, 1.0), (True, *[False] * len(ids), True))


@pytest.fixture
def judging(staged: StagedBackend, monkeypatch: pytest.MonkeyPatch) -> StagedBackend:
    def judge(self: Staged, items: Sequence[Probed]) -> Any:
        for item in items:
            yield [ProbedUnit(item.source.unit, tuple(map(likelihood, item.texts)))]

    monkeypatch.setattr(staged, "no_probe", "")
    monkeypatch.setattr(Staged, "probe", judge)
    return staged


def probed(version: Version) -> Run:
    run = start_run(version=version, by=None, purpose="probe")
    work()
    run.refresh_from_db()
    return run


def test_each_target_is_judged_with_its_counterfactuals_and_the_sums_are_stored(
    clusters: list[Cluster], judging: StagedBackend
) -> None:
    run = probed(staged_version(clusters[0].project))
    assert run.status == RunStatus.DONE
    assert [item.unit_id for item in run.items.order_by("pk")] == [clusters[0].unit_id, clusters[2].unit_id]
    rows = ProbeScore.objects.filter(item__unit=clusters[0].unit_id)
    assert [row.counterfactual and row.counterfactual.kind for row in rows] == [None, "negation", "modality"]
    target, negation, modality = rows
    words = len(TEXT.split())
    assert (target.content_sum, target.content_tokens) == (0.5 * words, words)
    assert (target.all_sum, target.all_tokens) == (0.5 * words + 2, words + 2)
    assert target.changed_sum is None
    assert negation.all_sum == pytest.approx(target.all_sum + 3.0)
    # "Neither" and "nor" (0.5 each) became "Both" and "and" (2 each).
    assert (negation.replaced_sum, negation.replaced_tokens) == (1.0, 2)
    assert (negation.changed_sum, negation.changed_tokens) == (4.0, 2)
    # "had" became "may have had": nothing was removed.
    assert (modality.replaced_sum, modality.replaced_tokens) == (0.0, 0)
    assert (modality.changed_sum, modality.changed_tokens) == (2.5, 2)
    assert len(target.nll) == len(target.token_ids) == words + 2


def test_pairs_have_their_kind_and_review(
    clusters: list[Cluster], judging: StagedBackend, django_assert_num_queries: Any
) -> None:
    run = probed(staged_version(clusters[0].project))
    with django_assert_num_queries(1):
        pairs = pairs_of(run)
    assert [(pair.kind, pair.review) for pair in pairs] == [
        ("negation", clusters[0].review_id),
        ("modality", clusters[0].review_id),
        ("negation", clusters[2].review_id),
    ]
    assert all(pair.delta("all") > 0 for pair in pairs)
    assert pairs[0].delta_sum("content") == pytest.approx(3.0)
    stored = ProbeScore.objects.get(item__run=run, counterfactual__kind="negation", target__cluster=clusters[0])
    assert (pairs[0].replaced, pairs[0].changed) == (
        (stored.replaced_sum, stored.replaced_tokens),
        (stored.changed_sum, stored.changed_tokens),
    )
    assert pairs[0].delta_changed() is not None
    assert pairs[1].delta_changed() is None, "words were only put in"


def test_a_document_is_judged_by_all_targets_of_its_review(levels: Project, judging: StagedBackend) -> None:
    first, second = Cluster.objects.order_by("position")
    add(first, {Kind.NEGATION: "Both reduces relapse."})
    add(second, {Kind.NEGATION: "It may hurt.", Kind.MODALITY: "It may reduce harm."})
    run = probed(staged_version(levels, level="document"))
    [item] = run.items.all()
    assert (item.unit_id, item.status) == (first.review.unit_id, ItemStatus.DONE)
    texts = [
        (row.target.text, row.counterfactual and row.counterfactual.text)
        for row in ProbeScore.objects.filter(item=item)
    ]
    assert texts == [
        ("It reduces relapse.", None),
        ("It reduces relapse.", "Both reduces relapse."),
        ("It reduces harm.", None),
        ("It reduces harm.", "It may hurt."),
        ("It reduces harm.", "It may reduce harm."),
    ]
    assert [pair.delta_sum("all") for pair in pairs_of(run)] == [1.5, 1.5, 2.0]


def test_only_current_counterfactuals_are_judged(clusters: list[Cluster], judging: StagedBackend) -> None:
    [newer] = add(clusters[0], {Kind.NEGATION: TEXTS[Kind.NEGATION] + " Indeed."}, name="b.csv", version=2)
    run = probed(staged_version(clusters[0].project))
    judged = set(ProbeScore.objects.filter(item__unit=clusters[0].unit_id).values_list("counterfactual", flat=True))
    assert newer.pk in judged
    assert len(judged) == 3
    assert run.items.count() == 2


def test_a_probe_item_that_cannot_be_judged_fails_alone(
    clusters: list[Cluster], judging: StagedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Staged.probe

    def judge(self: Staged, items: Sequence[Probed]) -> Any:
        yield [Failure(items[0].source.unit, "Too long.")]
        yield from whole(self, items[1:])

    monkeypatch.setattr(Staged, "probe", judge)
    run = probed(staged_version(clusters[0].project))
    assert sorted(run.items.values_list("status", "error")) == [(ItemStatus.DONE, ""), (ItemStatus.FAILED, "Too long.")]
    assert ProbeScore.objects.values("item").distinct().count() == 1


def test_preparation_takes_the_same_queries_for_one_and_many(clusters: list[Cluster], judging: StagedBackend) -> None:
    work_of = Probing()
    version = staged_version(clusters[0].project)
    counts = []
    for units in ([clusters[0].unit_id], [clusters[0].unit_id, clusters[2].unit_id]):
        with CaptureQueriesContext(connection) as found:
            items = work_of.items(version, units)
        assert set(items) == set(units)
        counts.append(len(found))
    assert counts[0] == counts[1]


def test_every_backend_gives_likelihoods_or_says_why_not() -> None:
    refusals = {backend.key: Probing().refusal(backend) for backend in backends.every()}
    assert {key for key, reason in refusals.items() if not reason} == NEURAL & refusals.keys()


def test_a_run_of_a_summariser_without_likelihoods_does_not_begin(clusters: list[Cluster]) -> None:
    system = create_system(project=clusters[0].project, name="Lead", by=None)
    version = make_version(system=system, config={"backend": "extractive"}, by=None)
    with pytest.raises(Refused, match="copies sentences"):
        start_run(version=version, by=None, purpose="probe")


def test_a_probe_without_counterfactuals_is_refused_with_the_next_action(
    project: Project, judging: StagedBackend
) -> None:
    build_cluster(project)
    with pytest.raises(Refused, match="no counterfactuals"):
        start_run(version=staged_version(project), by=None, purpose="probe")


def test_sentences_cannot_be_probed(clusters: list[Cluster], judging: StagedBackend) -> None:
    with pytest.raises(Refused, match="propositions"):
        start_run(version=staged_version(clusters[0].project, level="sentence"), by=None, purpose="probe")


def test_a_likelihood_is_stored_once_and_stays(clusters: list[Cluster], judging: StagedBackend) -> None:
    run = probed(staged_version(clusters[0].project))
    row = ProbeScore.objects.filter(counterfactual=None).first()
    assert row is not None
    with pytest.raises(DatabaseError), transaction.atomic():
        ProbeScore.objects.filter(pk=row.pk).update(all_sum=0)
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)
    assert run.items.count() == 2


def test_changed_tokens_are_those_of_a_difference_without_special_ones() -> None:
    (gone, n), (come, m) = sum_changed_tokens(likelihood("a b c d"), likelihood("a x c d e"))
    assert ((gone, n), (come, m)) == ((0.5, 1), (1.0, 2))
    assert sum_changed_tokens(likelihood("a b"), likelihood("a b")) == ((0, 0), (0, 0))


def test_the_command_does_the_run_and_prints_m3s_figures(
    clusters: list[Cluster], judging: StagedBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    staged_version(clusters[0].project)
    call_command("probe", project="eye", system="Staged")
    said = capsys.readouterr().out.splitlines()
    assert said[0].split() == [
        "kind",
        "n",
        "delta",
        "95%",
        "CI",
        "s.d.",
        "accuracy",
        "95%",
        "CI",
        "ties",
        "of",
        "sums",
        "of",
        "changed",
    ]
    words = len(TEXT.split()) + 2
    assert said[1].split()[:3] == ["negation", "2", f"{3 / words:.3f}"]
    assert said[2].split()[:4] == ["antonym", "0", "(no", "pairs)"]
    assert "one pair: no spread" in said[5]
    assert said[6].startswith("overall")
    assert "1.000" in said[6]
    assert said[-1].endswith("2 of 2 done.")
    call_command("probe", project="eye", system="Staged", tokens="content")
    again = capsys.readouterr().out
    assert "is already done" in again
    assert f"{3 / (words - 2):.3f}" in again
    assert Run.objects.count() == 1


def test_the_command_says_why_a_system_has_no_likelihoods(clusters: list[Cluster]) -> None:
    system = create_system(project=clusters[0].project, name="Lead", by=None)
    make_version(system=system, config={"backend": "extractive"}, by=None)
    with pytest.raises(CommandError, match="copies sentences"):
        call_command("probe", project="eye", system="Lead")


@pytest.mark.parametrize("kind", ["bart", "llama"])
def test_a_worker_probes_a_real_model(clusters: list[Cluster], models: Models, kind: str) -> None:
    backend = {"bart": "seq2seq", "llama": "chat"}[kind]
    config = {"backend": backend, "model": {"model": models(kind)}}
    if kind == "llama":
        config |= {"decoding": {"max_new_tokens": 40}, "prompt": {"template": "Sum up: {inputs}"}}
    system = create_system(project=clusters[0].project, name="Tiny", by=None)
    run = probed(make_version(system=system, config=config, by=None))
    assert run.status == RunStatus.DONE, run.error
    assert list(run.items.values_list("status", "error")) == [(ItemStatus.DONE, "")] * 2
    assert len(pairs_of(run)) == 3
    assert all(pair.delta("all") != 0 for pair in pairs_of(run))
