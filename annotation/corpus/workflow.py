"""Workflow stage of the corpus, and for projects built from PubMed the steps from the search to the corpus."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef, QuerySet

from annotation.pubmed.records import RetrievalProgress, retrieval_progress
from projects import kinds
from projects.models import Assignment, Decision, Project, Round
from projects.people.workflow import count_annotators
from projects.stored_figures.queries import stored
from projects.workflow import Begun, Next, Step, WorkflowStage

from ..clusters.completeness import lack, unlabelled
from ..clusters.figures import lacking_now
from ..models import Cluster, Counterfactual, Proposition, Question, Ranking, Search, Target
from .figures import SUMMARY

ASSIGN = "assign_evidence"
#: Address for a new rolling round, which adds later units automatically, because further searches add units to every
#: step.
ROUND = "rounds/new?rolling=true&kind="


class Corpus(WorkflowStage):
    key = "corpus"
    order = 10

    def steps(self, project: Project) -> Iterator[tuple[str, Step]]:
        progress = retrieval_progress(project)
        next_actions = _next_actions(project, progress) if progress else {}
        if progress:
            yield from _retrieval_steps(project, progress, next_actions)
            yield from _cluster_steps(project, Cluster.objects.current().filter(project=project), next_actions)
        else:
            yield self.key, _import_step(project)


def _import_step(project: Project) -> Step:
    known = stored(project, SUMMARY)
    if known.is_current:
        figures = known.figures
        clusters, targets = figures["clusters"], figures["documents"] + figures["sentences"]
        questions = figures["questions"]
    else:
        clusters = Cluster.objects.current().filter(project=project).count()
        targets = Target.objects.current().filter(project=project).count()
        questions = Question.objects.filter(project=project).count()
    texts = clusters or targets or questions
    next_action = None
    if not texts:
        next_action = Next(
            "import a corpus",
            "A corpus consists of the texts that people annotate and that systems summarise.",
            "Import a file",
            "import",
            "Or start with a PubMed search.",
            "pubmed",
        )
    of = "clusters" if clusters else "questions" if questions and not targets else "targets"
    return Step("Corpus", texts, of, "done" if texts else "to do", "corpus" if texts else "import", next=next_action)


def _cluster_steps(
    project: Project, clusters: QuerySet[Cluster], next_actions: dict[str, Next]
) -> Iterator[tuple[str, Step]]:
    """Yield the steps for clusters, labels and relations. The corpus step is done if every cluster can be released."""
    lacking = lacking_now(project)
    total, without_inputs = lacking["all"], lacking["input"]
    # Clusters for which people found no input need no further work. They are excluded from releases.
    no_inputs_decided = Decision.objects.filter(unit=OuterRef("unit"), kind=ASSIGN).current()
    unsupported = lack(clusters, "input").filter(Exists(no_inputs_decided)).count() if without_inputs else 0
    unsupported = min(unsupported, without_inputs)  # The stored count may be from before the last decisions.
    open_kinds = set(project.rounds.opened_by_people().filter(status=Round.Status.OPEN).values_list("kind", flat=True))
    without = [
        f"{n:,} without {what}"
        for n, what in (
            (lacking["target"], "a target"),
            (without_inputs - unsupported, "inputs"),
            (unsupported, "support"),
        )
        if n
    ]
    state: Begun = "to do" if not total else "begun" if lacking["target"] or without_inputs > unsupported else "done"
    undecided = 0
    if without_inputs > unsupported:
        undecided = lack(clusters, "input").exclude(Exists(no_inputs_decided) | _is_contested(ASSIGN)).count()
    next_action = next_actions.get("pico") or (_input_action(project, undecided) if ASSIGN not in open_kinds else None)
    page = "corpus?state=no_inputs" if without_inputs else "corpus"
    yield "corpus", Step("Corpus", total, ", ".join(["clusters", *without]), state, page, next=next_action)
    if not total:
        return
    labelled = total - lacking["label"]
    why = f"Annotators select polarity and modality of targets and inputs ({lacking['label']:,} clusters left)."
    label_action = Next("label the propositions", why, "Open a round", f"{ROUND}label")
    asks_labels = lacking["label"] and "label" not in open_kinds and _has_unlabelled_propositions(project)
    page = "corpus?state=unlabelled" if labelled and lacking["label"] else "rounds"
    yield (
        "labels",
        Step(
            "Labels",
            labelled,
            f"of {total:,} clusters labelled",
            _step_state(labelled, total),
            page,
            next=label_action if asks_labels else None,
        ),
    )
    supported = total - without_inputs
    related = supported - lacking["relation"]
    why = f"Annotators judge whether the inputs of a cluster agree ({lacking['relation']:,} clusters left)."
    relation_action = Next("judge agreement within clusters", why, "Open a round", f"{ROUND}discourse")
    is_due = lacking["relation"] and not lacking["label"] and "discourse" not in open_kinds
    if is_due:
        unrelated = lack(clusters, "discourse").exclude(pk__in=lack(clusters, "input").values("pk"))
        is_due = unrelated.exclude(_is_contested("discourse")).exists()
    yield (
        "relations",
        Step(
            "Relations",
            related,
            f"of {supported:,} clusters with inputs",
            _step_state(related, supported),
            "rounds",
            next=relation_action if is_due else None,
        ),
    )
    yield from _optional_steps(project, labelled)


def _is_contested(kind: str) -> Exists:
    """Return a condition: the unit of the outer row waits for a curator's decision."""
    return Exists(Decision.objects.filter(unit=OuterRef("unit"), kind=kind).contested())


def _has_unlabelled_propositions(project: Project) -> bool:
    """Return whether a proposition lacks a label and does not wait for a curator's decision on a contested one."""
    claims = Proposition.objects.current().filter(cluster__project=project)
    return unlabelled(claims).exclude(_is_contested("label")).exists()


def _input_action(project: Project, without_inputs: int) -> Next | None:
    """Return the next action for clusters without inputs."""
    if not without_inputs:
        return None
    assigned_before = Assignment.objects.asked_as(ASSIGN).filter(unit=OuterRef("pk"))
    if n := kinds.get(ASSIGN).units(project).filter(~Exists(assigned_before)).count():
        why = f"Annotators select the inputs of the sentence that support each proposition ({n:,} left)."
        page = f"{ROUND}{ASSIGN}&filters.unasked=true"
        return Next("assign the evidence to the propositions", why, "Open a round", page)
    why = f"No round found inputs for them; a curator can write some ({without_inputs:,} clusters left)."
    return Next("add inputs to the clusters", why, "Choose a review to curate", "corpus?state=no_inputs")


def _optional_steps(project: Project, labelled: int) -> Iterator[tuple[str, Step]]:
    """Yield the optional steps, which are offered after labelling."""
    written = Counterfactual.objects.of(project).current().count()
    studied = project.reliability_studies.count()
    used_kinds = set(project.rounds.opened_by_people().values_list("kind", flat=True))
    options = []
    if labelled and not written and "counterfactual" not in used_kinds:
        options.append(Next("write counterfactuals", "", "Open a round", "rounds/new?kind=counterfactual"))
    if written and "blind_check" not in used_kinds:
        options.append(Next("check the counterfactuals (blind)", "", "Open a round", "rounds/new?kind=blind_check"))
    yield (
        "counterfactuals",
        Step(
            "Counterfactuals",
            written,
            "written" if written else "optional",
            "done" if written else "to do",
            "rounds",
            options=options,
        ),
    )
    study = [Next("plan a reliability study", "", "Plan a study", "reliability")] if labelled and not studied else []
    of = "optional" if not studied else "study" if studied == 1 else "studies"
    yield "reliability", Step("Reliability", studied, of, "done" if studied else "to do", "reliability", options=study)


def _retrieval_steps(
    project: Project, progress: RetrievalProgress, next_actions: dict[str, Next]
) -> Iterator[tuple[str, Step]]:
    state: Begun = "begun" if progress.searching else "done" if progress.retrieved else "to do"
    of = "retrieved, search in progress" if progress.searching else "retrieved"
    yield "reviews", Step("Reviews", progress.retrieved, of, state, "pubmed", next=_search_action(project, progress))
    if progress.retrieved:
        of = f"included of {progress.screened:,} screened" if progress.screened else "included"
        state = _step_state(progress.screened, progress.retrieved)
        yield "screening", Step("Screening", progress.included, of, state, "rounds", next=next_actions.get("screen"))
    if progress.included or progress.studies:
        of = f"studies, {progress.listed:,} reviews listed" if progress.listed else "studies"
        if progress.unread:
            of += f", {progress.unread:,} PMID only"
        state = "begun" if progress.unread else _step_state(progress.listed, progress.included)
        action = _fetch_action(progress) or next_actions.get("studies")
        yield ("studies", Step("Studies", progress.studies, of, state, "rounds", next=action))
    if progress.included or progress.targets:
        of = f"targets, {progress.read:,} reviews read" if progress.read else "targets"
        state = _step_state(progress.read, progress.included)
        yield "sentences", Step("Sentences", progress.targets, of, state, "rounds", next=next_actions.get("sentences"))
    if progress.targets:
        state = _step_state(progress.supported + progress.dropped, progress.targets)
        dropped = f", {progress.dropped:,} dropped without support" if progress.dropped else ""
        of = f"of {progress.targets:,} targets have inputs{dropped}"
        next_action = next_actions.get("evidence")
        yield "evidence", Step("Evidence", progress.supported, of, state, "ranking", next=next_action)


def _search_action(project: Project, progress: RetrievalProgress) -> Next | None:
    """Return the next action if the newest search failed, or if no search has found a review."""
    newest = Search.objects.filter(project=project).order_by("-pk").first()
    if newest and newest.state == Search.State.FAILED:
        return Next("continue the failed search", newest.error, "Open PubMed", "pubmed", turn="first")
    if progress.retrieved or progress.searching:
        return None
    return Next("search PubMed again", "No search has found a review so far.", "Open PubMed", "pubmed", turn="first")


def _fetch_action(progress: RetrievalProgress) -> Next | None:
    if not progress.unread or not progress.listed:
        return None
    why = f"Only the PMIDs of some listed studies are known ({progress.unread:,} studies)."
    return Next("fetch the records of the studies", why, "Open PubMed", "pubmed")


def _step_state(done: int, total: int) -> Begun:
    return "to do" if not done else "done" if done >= total else "begun"


def _next_actions(project: Project, progress: RetrievalProgress) -> dict[str, Next]:
    """Return the next action by kind.

    Kinds with an open round are omitted. Empty during a search or with fewer than two raters, because inviting people
    comes first.
    """
    if progress.searching or count_annotators(project) < 2:
        return {}
    open_kinds = set(project.rounds.opened_by_people().filter(status=Round.Status.OPEN).values_list("kind", flat=True))
    actions = {}
    if progress.to_screen:
        why = f"Annotators decide which retrieved reviews belong in the data set ({progress.to_screen:,} left)."
        actions["screen"] = ("screen the reviews", why, "unasked" if progress.screened else "")
    # Imported studies need not be listed.
    if progress.to_list and (progress.listed or not progress.studies):
        why = f"Evidence is taken from the included studies of each review ({progress.to_list:,} reviews left)."
        actions["studies"] = ("list the included studies", why, "included")
    if progress.to_read:
        why = f"Selected sentences of the included reviews become targets ({progress.to_read:,} reviews left)."
        actions["sentences"] = ("select the sentences with evidence", why, "included")
    if progress.to_map and progress.abstracts:
        why = (
            f"Annotators select the sentences of the studies that support a target ({progress.to_map:,} targets left)."
        )
        only = "no_evidence_yet" if progress.supported else ""
        actions["evidence"] = ("map the targets to their evidence", why, only)
    # Sentences without supporting studies need not be split.
    if progress.to_split and "evidence" not in open_kinds:
        why = (
            f"Annotators write one PICO tuple for each claim of a target sentence ({progress.to_split:,} targets left)."
        )
        only = "supported" if progress.supported else ""
        actions["pico"] = ("split the target sentences into PICO tuples", why, only)
    ranked = Ranking.objects.filter(target__project=project).exists() if "evidence" in actions else True
    ranking_step = ("Rank the sentences first, so that annotators see the nearest ones.", "ranking")
    further_steps = {} if ranked else {"evidence": ranking_step}
    return {
        kind: Next(
            words,
            why,
            "Open a round",
            f"{ROUND}{kind}" + (f"&filters.{only}=true" if only else ""),
            *further_steps.get(kind, ()),
        )
        for kind, (words, why, only) in actions.items()
        if kind not in open_kinds
    }
