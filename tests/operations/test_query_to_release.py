"""From a query to a release: simulated lead and annotators build a small data set through the API only."""

import csv
import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from accounts.models import User
from operations.simulation.annotator import Annotator
from operations.simulation.client import Client
from operations.simulation.history import Study, do_waiting_jobs
from operations.simulation.transport import InProcess
from projects.models import Member, Project
from tests.annotation.pubmed_files import article
from tests.annotation.pubmed_stub import Stub, serving

pytestmark = pytest.mark.django_db(transaction=True)
#: `make soak` uses 60.
REVIEWS = int(os.environ.get("REVIEWS", "6"))
FIRST, STUDIES = 30_000_000, 40_000_000
#: Each outcome is claimed by one sentence of a review and supported by the two trials that it cites.
OUTCOMES = ("relapse", "pain", "fatigue", "nausea", "insomnia", "anxiety")
#: Answers of a simulated annotator by kind.
Says = Callable[[Mapping[str, Any], random.Random], dict[str, Any]]


def outcome(number: int) -> str:
    return OUTCOMES[number % len(OUTCOMES)]


def reviews() -> Iterator[tuple[str, str]]:
    """Return (PMID, record). The last one has another topic."""
    for number in range(REVIEWS):
        about = outcome(number)
        what = "Cooking" if number == REVIEWS - 1 else f"Nepralin for {about}"
        parts = (
            ("BACKGROUND", "BACKGROUND", f"Many adults suffer from {about}."),
            ("METHODS", "METHODS", "We searched two data bases up to May."),
            ("MAIN RESULTS", "RESULTS", "Two trials were included."),
            ("CONCLUSIONS", "CONCLUSIONS", f"Nepralin reduces {about} in adults. More trials are needed."),
        )
        cites = [str(STUDIES + 2 * number), str(STUDIES + 2 * number + 1)]
        pmid = str(FIRST + number)
        yield pmid, article(pmid, title=f"{what}: a systematic review.", parts=parts, references=cites)


def studies() -> Iterator[tuple[str, str]]:
    for number in range(2 * REVIEWS):
        about, pmid = outcome(number // 2), str(STUDIES + number)
        parts = (
            ("OBJECTIVE", "OBJECTIVE", f"We asked whether nepralin helps against {about}."),
            ("METHODS", "METHODS", f"Ninety adults with {about} took nepralin or placebo. They were seen each month."),
            ("RESULTS", "RESULTS", f"Nepralin significantly reduced {about} compared with placebo. Nobody died."),
        )
        yield (
            pmid,
            article(pmid, title=f"Nepralin against {about}.", parts=parts, types=("Randomized Controlled Trial",)),
        )


class Reader(Annotator):
    """A simulated annotator with given answers."""

    def __init__(self, client: Client, round: int, says: Says, seed: int) -> None:
        super().__init__(client, round, seed=seed)
        self.says = says

    def value(self, card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        return self.says(card, rng)


def screened(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    return {"screening": "include" if "Nepralin" in card["title"] else "not relevant"}


def screened_hastily(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Exclude the first review by mistake."""
    return {"screening": "not relevant"} if card["pmid"] == str(FIRST) else screened(card, rng)


def listed(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Include all cited studies."""
    return {"included_studies": {"listed": [{"pmid": one["pmid"], "missing": ""} for one in card["cited"]]}}


def evidence_bearing(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    bears = {s["number"] for s in card["sentences"] if s["text"].startswith("Nepralin reduces")}
    said = [{"number": s["number"], "said": "picked" if s["number"] in bears else "neither"} for s in card["sentences"]]
    return {"evidence_sentences": {"dropped": "", "sentences": said}}


def supporting(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    said = [s["number"] for s in card["sentences"] if s["text"].startswith("Nepralin significantly")]
    return {"support": said, "ranked": card["ranks"]}


def marked(text: str, words: str) -> dict[str, Any]:
    at = text.index(words)
    return {"text": words, "fragments": [{"start": at, "end": at + len(words), "quote": words}]}


def split(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """One claim: "Nepralin reduces OUTCOME in adults.", without a comparator."""
    text = card["text"]
    about = text.removeprefix("Nepralin reduces ").removesuffix(" in adults.")
    nothing = {"text": "", "fragments": [], "stands_for": "placebo"}
    return {
        "tuples": [{"p": marked(text, "adults"), "i": marked(text, "Nepralin"), "c": nothing, "o": marked(text, about)}]
    }


def labelled(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    words = next(one for one in ("reduces", "reduced") if one in card["text"])
    return {
        "polarity": "positive",
        "polarity_cue": marked(card["text"], words)["fragments"],
        "modality": "moderate",
        "modality_cue": [],
    }


def labelled_without_cues(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    return labelled(card, rng) | {"polarity_cue": []}


def labelled_so(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """With an error on the first review's claim."""
    said = labelled_without_cues(card, rng)
    return said | {"polarity": "negative"} if outcome(0) in card["text"] else said


def all_assigned(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    return {"supporting": [{"number": one["number"], "said": "supports"} for one in card["inputs"]]}


def matched(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    nearest = (one["number"] for one in card["candidates"] if one["text"].startswith("Nepralin significantly"))
    return {"most_relevant": next(nearest)}


def related(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    return {"relation": "agreement"}


def rewritten(card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """The first draft of each kind; a kind without a draft does not apply."""
    none = {"text": "", "origin": "", "rule": "", "reason": "no opposite"}
    return {
        one["field"]: one["drafts"][0] | {"origin": "drafted", "reason": ""} if one["drafts"] else none
        for one in card["asked"]
    }


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with serving() as stub:
        yield stub


class Lab:
    """A lead with a study, and two simulated annotators."""

    def __init__(self, project: Project, lead: User, readers: tuple[User, User]) -> None:
        self.study = Study(Client(InProcess(lead)), project.slug, pump=do_waiting_jobs)
        self.readers = [Client(InProcess(user)) for user in readers]
        self.members = list(
            Member.objects.filter(project=project, user__in=readers).order_by("pk").values_list("pk", flat=True)
        )

    def round(self, kind: str, says: Says, *others: Says, **plan: Any) -> int:
        """Run and close a round of both annotators. ``others``: the answers of the second one."""
        return self.work(self.study.open_round(kind, self.members, kind=kind, overlap=2, **plan), says, *others)

    def work(self, round: int, says: Says, *others: Says) -> int:
        for seed, (client, how) in enumerate(zip(self.readers, [says, *(others or [says])], strict=True), start=1):
            Reader(client, round, how, seed).work()
        self.study.close(round)
        return round

    def table(self, key: str) -> list[dict[str, str]]:
        """Return the rows of a table from its CSV."""
        text = self.study.lead.download(f"projects/{self.study.slug}/results/{key}/csv/").decode("utf-8-sig")
        return list(csv.DictReader(text.splitlines()))

    def get(self, path: str) -> Any:
        return self.study.lead.get(f"projects/{self.study.slug}/{path}")


@pytest.fixture
def lab(project: Project, lead: User, ann1: User, ann2: User) -> Lab:
    return Lab(project, lead, (ann1, ann2))


def measured(report: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(one for one in report["measures"] if one["name"] == name)
    return found


def test_a_data_set_is_built_from_a_query_to_a_release(lab: Lab, stub: Stub) -> None:
    study = lab.study
    stub.records = dict(reviews())
    found = study.search("nepralin", "nepralin")
    assert found["counts"] == {"waiting": 0, "new": REVIEWS, "known": 0, "missing": 0, "unfit": 0}

    screening = lab.round("screen", screened, screened_hastily)
    assert measured(study.agreement(screening), "screening")["units"] == REVIEWS
    assert study.adjudicate(screening, "The title says it.", lambda value: value["screening"] == "include") == 1

    stub.records |= dict(studies())
    lab.round("studies", listed, filters={"included": True})
    assert lab.get("searches/studies/")["unread"] == 2 * (REVIEWS - 1)
    assert study.read_studies()["found"] == 2 * (REVIEWS - 1)
    assert lab.get("searches/studies/")["unread"] == 0

    lab.round(
        "sentences", evidence_bearing, filters={"included": True}, options={"sentence_task": "evidence_sentences"}
    )
    evidence = lab.get("evidence/")
    assert (evidence["targets"], evidence["pairs"]) == (REVIEWS - 1, 2 * (REVIEWS - 1))
    study.wait(study.lead.post(f"projects/{study.slug}/evidence/", {"ranker": "words", "model": ""}))

    lab.round("evidence", supporting)
    assert lab.get("evidence/")["mapped"] == 2 * (REVIEWS - 1)
    lab.round("pico", split)
    assert lab.get("clusters/")["count"] == REVIEWS - 1
    lab.round("assign_evidence", all_assigned)
    lab.round("label", labelled)
    lab.round("discourse", related)
    lab.round("counterfactual", rewritten, options={"counterfactual_kinds": ["negation", "no_evidence"]})
    assert lab.get("summary/")["figures"]["propositions"] == 3 * (REVIEWS - 1)

    claims = REVIEWS - 1
    plan = {"name": "Study", "propositions": claims, "sentences": claims, "overlap": 2, "people": lab.members}
    planned = study.lead.post(f"projects/{study.slug}/reliability/", plan)["studies"][0]
    rounds = {round["kind"]: round["id"] for round in planned["rounds"]}
    lab.work(rounds["label"], labelled_without_cues, labelled_so)
    lab.work(rounds["match"], matched)
    contested = sum(outcome(number) == outcome(0) for number in range(claims))
    polarity, _, match = lab.table("m3-9")
    assert float(polarity["All agree (%)"]) == pytest.approx(100 * (1 - contested / claims))
    assert float(polarity["Accuracy (%)"]) == pytest.approx(100 * (1 - contested / claims / 2))
    assert [match[name] for name in ("Items", "All agree (%)", "Accuracy (%)", "Chance (%)")] == [
        str(claims),
        "100.0",
        "100.0",
        "25.0",
    ]

    counts = {name: lab.table("m3-1")[-1][name] for name in ("Retrieved", "Included", "Excluded", "Undecided")}
    assert counts == {"Retrieved": str(REVIEWS), "Included": str(claims), "Excluded": "1", "Undecided": "0"}
    flow = {row["Step"] or row["Part or exclusion"]: int(row["n"]) for row in lab.table("flow")}
    assert (flow["Reviews screened"], flow["Reviews included"]) == (REVIEWS, claims)
    assert (flow["Studies with an abstract"], flow["Target sentences with evidence"]) == (2 * claims, claims)
    assert (flow["PICO tuples (clusters)"], flow["Propositions"]) == (claims, 3 * claims)

    documents = study.make_documents()
    assert (documents["made"], documents["of_picked_sentences"]) == (claims, 0)
    release = study.release("1.0.0")
    level1, level2, level3 = (
        [json.loads(line) for line in study.release_file(release, f"m3/level{n}.jsonl").decode().splitlines()]
        for n in (1, 2, 3)
    )
    for number, one in enumerate(level1):
        assert one["target_text"] == f"Nepralin reduces {outcome(number)} in adults. More trials are needed."
        assert [source["source_pmid"] for source in one["input_studies"]] == [
            str(STUDIES + 2 * number),
            str(STUDIES + 2 * number + 1),
        ]
    assert len(level1) == claims
    assert [len(one["input_studies"]) for one in level2] == [2] * (REVIEWS - 1)
    assert [(len(one["input_studies"]), one["discourse_relation"]) for one in level3] == [(2, "agreement")] * (
        REVIEWS - 1
    )
    rewritings = study.release_file(release, "m3/counterfactuals.jsonl").decode().splitlines()
    assert len(rewritings) == 2 * (REVIEWS - 1)
