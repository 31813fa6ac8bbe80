"""What there is to label, and for a project whose reviews come from PubMed the steps from the search to it."""

from collections.abc import Iterator

from projects.models import Project, Round
from projects.pages.steps import Begun, Next, Step, Stretch, askable

from ...models import Cluster, Target
from ...values.retrieved import Far, how_far


class Corpus(Stretch):
    key = "corpus"
    order = 10

    def steps(self, project: Project) -> Iterator[tuple[str, Step]]:
        far = how_far(project)
        following = _following(project, far) if far else {}
        if far:
            yield from _retrieved(far, following)
        yield self.key, _corpus(project, far, following)


def _corpus(project: Project, far: Far | None, following: dict[str, Next]) -> Step:
    clusters = Cluster.objects.current().filter(project=project).count()
    texts = clusters or Target.objects.current().filter(project=project).count()
    of = "clusters" if clusters or not texts else "targets"
    onward = None if clusters else following.get("pico")
    if far is None and not texts:
        onward = Next(
            "bring a corpus in", "Reviews with the propositions or texts that people will label and systems sum up.",
            "Import a file", "import", "Or begin with a search of PubMed.", "search",
        )  # fmt: skip
    state: Begun = "done" if texts else "to do"
    return Step("Corpus", texts, of, state, "corpus" if texts else "import", next=onward)


def _retrieved(far: Far, following: dict[str, Next]) -> Iterator[tuple[str, Step]]:
    state: Begun = "begun" if far.searching else "done" if far.retrieved else "to do"
    of = "retrieved, a search is under way" if far.searching else "retrieved"
    yield "reviews", Step("Reviews", far.retrieved, of, state, "search")
    if far.retrieved:
        of = f"included of {far.screened:,} screened" if far.screened else "included"
        state = _begun(far.screened, far.retrieved)
        yield "screening", Step("Screening", far.included, of, state, "rounds", next=following.get("screen"))
    if far.included or far.studies:
        of = f"studies, reviews listed: {far.listed:,}" if far.listed else "studies"
        state = _begun(far.listed, far.included)
        yield (
            "studies",
            Step("Studies", far.studies, of, state, "rounds", next=following.get("studies") or _unread(far)),
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


def _unread(far: Far) -> Next | None:
    if not far.unread or not far.listed:
        return None
    why = f"Studies that people listed are known by their PMIDs alone ({far.unread:,} in all)."
    return Next("read the records of the studies", why, "Search PubMed", "search")


def _begun(done: int, all: int) -> Begun:
    return "to do" if not done else "done" if done >= all else "begun"


def _following(project: Project, far: Far) -> dict[str, Next]:
    """What comes next, by the kind of work; nothing where a round of it is there, or where there is nobody to ask yet:
    inviting people comes first."""
    if far.searching or askable(project) < 2:
        return {}
    rounds = set(project.rounds.opened_by_people().values_list("kind", "status"))
    found = {}
    if far.retrieved and not far.screened:
        why = f"Which of the retrieved reviews belong in the data set ({far.retrieved:,} in all)?"
        found["screen"] = ("screen the reviews", why)
    if far.included and not far.listed and not far.studies:
        why = f"Evidence comes from the studies that a review includes ({far.included:,} reviews in all)."
        found["studies"] = ("list the included studies", why)
    if far.included and not far.read:
        why = f"Sentences of the included reviews that bear evidence become targets ({far.included:,} reviews in all)."
        found["sentences"] = ("pick the sentences that bear evidence", why)
    left = far.targets - far.supported - far.dropped
    if left > 0 and far.abstracts:
        why = f"Which sentences of the included studies support a target ({left:,} targets in all)?"
        found["evidence"] = ("map the targets to their evidence", why)
    # What no study supports need not be split.
    if far.targets and ("evidence", Round.Status.OPEN) not in rounds:
        why = f"A target sentence claims one thing or several: one tuple a claim ({far.targets:,} targets in all)."
        found["pico"] = ("split the target sentences into PICO tuples", why)
    return {
        kind: Next(words, why, "Open a round", f"rounds/new?kind={kind}")
        for kind, (words, why) in found.items()
        if kind not in {kind for kind, _ in rounds}
    }
