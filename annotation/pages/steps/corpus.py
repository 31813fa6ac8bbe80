"""What there is to label, and for a project whose reviews come from PubMed the steps from the search to it."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef, QuerySet

from projects import kinds
from projects.models import Assignment, Decision, Project, Round
from projects.pages.steps import Begun, Next, Step, Stretch, askable

from ...models import Cluster, Counterfactual, Proposition, Ranking, Search, Target
from ...values.completeness import count_lacking, lack, unlabelled
from ...values.retrieved import Far, how_far

ASSIGN = "assign_evidence"
#: A new round that takes in what comes later: there may be another search, and every step feeds the next.
ROUND = "rounds/new?rolling=true&kind="


class Corpus(Stretch):
    key = "corpus"
    order = 10

    def steps(self, project: Project) -> Iterator[tuple[str, Step]]:
        far = how_far(project)
        following = _following(project, far) if far else {}
        if far:
            yield from _retrieved(project, far, following)
            yield from _found(project, Cluster.objects.current().filter(project=project), following)
        else:
            yield self.key, _brought(project)


def _brought(project: Project) -> Step:
    n = Cluster.objects.current().filter(project=project).count()
    texts = n or Target.objects.current().filter(project=project).count()
    onward = None
    if not texts:
        onward = Next(
            "bring a corpus in", "Reviews with the propositions or texts that people will label and systems sum up.",
            "Import a file", "import", "Or begin with a search of PubMed.", "search",
        )  # fmt: skip
    of = "clusters" if n or not texts else "targets"
    return Step("Corpus", texts, of, "done" if texts else "to do", "corpus" if texts else "import", next=onward)


def _found(project: Project, clusters: QuerySet[Cluster], following: dict[str, Next]) -> Iterator[tuple[str, Step]]:
    """The clusters that target sentences were split into, and what is said of them: complete once each can be
    released."""
    lacking = count_lacking(clusters)
    total, bare = lacking["all"], lacking["input"]
    # Nothing is left to be done about those for which people found no input: they stay out of a release.
    found_none = Decision.objects.filter(unit=OuterRef("unit"), kind=ASSIGN).in_force()
    unsupported = lack(clusters, "input").filter(Exists(found_none)).count() if bare else 0
    asked = set(project.rounds.opened_by_people().filter(status=Round.Status.OPEN).values_list("kind", flat=True))
    without = [
        f"{n:,} without {what}"
        for n, what in ((lacking["target"], "a target"), (bare - unsupported, "inputs"), (unsupported, "support"))
        if n
    ]
    state: Begun = "to do" if not total else "begun" if lacking["target"] or bare > unsupported else "done"
    open_ones = 0
    if bare > unsupported:
        open_ones = lack(clusters, "input").exclude(Exists(found_none) | _waits(ASSIGN)).count()
    onward = following.get("pico") or (_inputs(project, open_ones) if ASSIGN not in asked else None)
    page = "corpus?state=no_inputs" if bare else "corpus"
    yield "corpus", Step("Corpus", total, ", ".join(["clusters", *without]), state, page, next=onward)
    if not total:
        return
    labelled = total - lacking["label"]
    why = f"Polarity and modality of targets and inputs ({lacking['label']:,} clusters in all)."
    label = Next("label the propositions", why, "Open a round", f"{ROUND}label")
    page = "corpus?state=unlabelled" if labelled and lacking["label"] else "rounds"
    yield "labels", Step(
        "Labels", labelled, f"of {total:,} clusters labelled", _begun(labelled, total), page,
        next=label if lacking["label"] and "label" not in asked and _has_unasked_labels(project) else None,
    )  # fmt: skip
    supported = total - bare
    related = supported - lacking["relation"]
    why = f"Do the inputs of a cluster agree or contradict each other ({lacking['relation']:,} clusters in all)?"
    relate = Next("judge agreement within clusters", why, "Open a round", f"{ROUND}discourse")
    due = lacking["relation"] and not lacking["label"] and "discourse" not in asked
    if due:
        unrelated = lack(clusters, "discourse").exclude(pk__in=lack(clusters, "input").values("pk"))
        due = unrelated.exclude(_waits("discourse")).exists()
    yield "relations", Step(
        "Relations", related, f"of {supported:,} clusters with inputs", _begun(related, supported), "rounds",
        next=relate if due else None,
    )  # fmt: skip
    yield from _optional(project, labelled)


def _waits(kind: str) -> Exists:
    """Whether a curator is to decide, of the unit of what asks."""
    return Exists(Decision.objects.filter(unit=OuterRef("unit"), kind=kind).contested())


def _has_unasked_labels(project: Project) -> bool:
    """Whether a proposition without a label waits for nobody yet: what is contested has its label from a curator."""
    claims = Proposition.objects.current().filter(cluster__project=project)
    return unlabelled(claims).exclude(_waits("label")).exists()


def _inputs(project: Project, bare: int) -> Next | None:
    """For clusters that nobody was asked to find inputs for."""
    if not bare:
        return None
    asked_before = Assignment.objects.asked_as(ASSIGN).filter(unit=OuterRef("pk"))
    if n := kinds.get(ASSIGN).units(project).filter(~Exists(asked_before)).count():
        why = f"Which of the texts found for its sentence support each proposition ({n:,} in all)?"
        page = f"{ROUND}{ASSIGN}&filters.unasked=true"
        return Next("assign the evidence to the propositions", why, "Open a round", page)
    why = f"No round has found any for them: a curator can write them ({bare:,} clusters in all)."
    return Next("give the clusters their inputs", why, "Choose a review to curate", "corpus?state=no_inputs")


def _optional(project: Project, labelled: int) -> Iterator[tuple[str, Step]]:
    """What a data set may do without: offered once clusters are labelled."""
    written = Counterfactual.objects.of(project).current().count()
    studied = project.reliability_studies.count()
    asked = set(project.rounds.opened_by_people().values_list("kind", flat=True))
    options = []
    if labelled and not written and "counterfactual" not in asked:
        options.append(Next("write counterfactuals", "", "Open a round", "rounds/new?kind=counterfactual"))
    if written and "blind_check" not in asked:
        options.append(Next("check the counterfactuals blind", "", "Open a round", "rounds/new?kind=blind_check"))
    yield "counterfactuals", Step(
        "Counterfactuals", written, "written" if written else "optional", "done" if written else "to do", "rounds",
        options=options,
    )  # fmt: skip
    study = [Next("plan a reliability study", "", "Plan a study", "reliability")] if labelled and not studied else []
    of = "optional" if not studied else "study" if studied == 1 else "studies"
    yield "reliability", Step(
        "Reliability", studied, of, "done" if studied else "to do", "reliability", options=study
    )  # fmt: skip


def _retrieved(project: Project, far: Far, following: dict[str, Next]) -> Iterator[tuple[str, Step]]:
    state: Begun = "begun" if far.searching else "done" if far.retrieved else "to do"
    of = "retrieved, a search is under way" if far.searching else "retrieved"
    yield "reviews", Step("Reviews", far.retrieved, of, state, "search", next=_searching(project, far))
    if far.retrieved:
        of = f"included of {far.screened:,} screened" if far.screened else "included"
        state = _begun(far.screened, far.retrieved)
        yield "screening", Step("Screening", far.included, of, state, "rounds", next=following.get("screen"))
    if far.included or far.studies:
        of = f"studies, reviews listed: {far.listed:,}" if far.listed else "studies"
        if far.unread:
            of += f", {far.unread:,} known by PMID alone"
        state = "begun" if far.unread else _begun(far.listed, far.included)
        yield (
            "studies",
            Step("Studies", far.studies, of, state, "rounds", next=_unread(far) or following.get("studies")),
        )
    if far.included or far.targets:
        of = f"targets, reviews read: {far.read:,}" if far.read else "targets"
        state = _begun(far.read, far.included)
        yield "sentences", Step("Sentences", far.targets, of, state, "rounds", next=following.get("sentences"))
    if far.targets:
        state = _begun(far.supported + far.dropped, far.targets)
        dropped = f", {far.dropped:,} dropped without support" if far.dropped else ""
        of = f"of {far.targets:,} targets have inputs{dropped}"
        onward = following.get("evidence")
        yield "evidence", Step("Evidence", far.supported, of, state, "evidence", next=onward)


def _searching(project: Project, far: Far) -> Next | None:
    """Where the newest search was broken off, or none has found anything: nothing else goes on by itself."""
    newest = Search.objects.filter(project=project).order_by("-pk").first()
    if newest and newest.state == Search.State.FAILED:
        return Next("go on with the search that failed", newest.error, "Open Search", "search", turn="first")
    if far.retrieved or far.searching:
        return None
    return Next("search PubMed again", "No search has found a review yet.", "Open Search", "search", turn="first")


def _unread(far: Far) -> Next | None:
    if not far.unread or not far.listed:
        return None
    why = f"Studies that people listed are known by their PMIDs alone ({far.unread:,} in all)."
    return Next("read the records of the studies", why, "Open Search", "search")


def _begun(done: int, all: int) -> Begun:
    return "to do" if not done else "done" if done >= all else "begun"


def _following(project: Project, far: Far) -> dict[str, Next]:
    """What comes next, by the kind of work; nothing where a round of it is there, or where there is nobody to ask yet:
    inviting people comes first."""
    if far.searching or askable(project) < 2:
        return {}
    at_work = set(project.rounds.opened_by_people().filter(status=Round.Status.OPEN).values_list("kind", flat=True))
    found = {}
    if far.to_screen:
        why = f"Which of the retrieved reviews belong in the data set ({far.to_screen:,} in all)?"
        found["screen"] = ("screen the reviews", why, "unasked" if far.screened else "")
    # Studies that were brought in need not be listed.
    if far.to_list and (far.listed or not far.studies):
        why = f"Evidence comes from the studies that a review includes ({far.to_list:,} reviews in all)."
        found["studies"] = ("list the included studies", why, "included")
    if far.to_read:
        why = f"Sentences of the included reviews that bear evidence become targets ({far.to_read:,} reviews in all)."
        found["sentences"] = ("pick the sentences that bear evidence", why, "included")
    if far.to_map and far.abstracts:
        why = f"Which sentences of the included studies support a target ({far.to_map:,} targets in all)?"
        found["evidence"] = ("map the targets to their evidence", why, "no_evidence_yet" if far.supported else "")
    # What no study supports need not be split.
    if far.to_split and "evidence" not in at_work:
        why = f"A target sentence claims one thing or several: one tuple a claim ({far.to_split:,} targets in all)."
        found["pico"] = ("split the target sentences into PICO tuples", why, "supported" if far.supported else "")
    ranked = Ranking.objects.filter(target__project=project).exists() if "evidence" in found else True
    also = {} if ranked else {"evidence": ("Rank their sentences first: annotators see the nearest.", "evidence")}
    return {
        kind: Next(
            words, why, "Open a round", f"{ROUND}{kind}" + (f"&filters.{only}=true" if only else ""),
            *also.get(kind, ()),
        )
        for kind, (words, why, only) in found.items()
        if kind not in at_work
    }  # fmt: skip
