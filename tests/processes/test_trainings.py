"""Trainings through real workers: all families learn, and end with the same weights after kills and a suspension.

`tests/generation/test_training_kills.py` has the quick cases, with processes that signal themselves.
"""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.generation import tiny_models
from tests.processes.apps import LEASE
from tests.processes.site import Process, Site, until

pytestmark = [pytest.mark.processes, pytest.mark.long]
FAMILIES = ("bart", "pegasus", "t5", "led", "primera")
#: Checkpoints are frequent, so that many kills meet one that is being written.
OFTEN = {"epochs": 4, "batch": 25, "learning_rate": 1e-3, "target_tokens": 32, "evaluate_every": 2}
LEARN = {"epochs": 25, "batch": 25, "learning_rate": 1e-2, "target_tokens": 32, "evaluate_every": 1000}


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    """A site without a web server, with a tiny model of each family."""
    site = make_site()
    site.environment["OMP_NUM_THREADS"] = "1"
    for family in FAMILIES:
        tiny_models.build(family, site.folder / "models" / family, is_trainable=True)
    site.call("make", module="trainings")
    return site


def begin(site: Site, family: str, name: str, training: dict[str, Any]) -> int:
    return int(site.call("begin", module="trainings", family=family, name=name, **training))


def state(site: Site, training: int, patience: float = 0) -> dict[str, Any]:
    found: dict[str, Any] = site.call("state", module="trainings", training=training, patience=patience)
    return found


def done(site: Site, training: int) -> dict[str, Any]:
    found = state(site, training, 200)
    assert (found["state"], found["error"]) == ("done", ""), found
    return found


def checkpoints(site: Site, training: int) -> tuple[set[str], set[str]]:
    """Return the names of complete and of incomplete checkpoints."""
    folders = set((site.folder / "training" / str(training)).glob("attempt-*/checkpoint-*"))
    complete = {folder for folder in folders if (folder / "trainer_state.json").is_file()}
    return {each.name for each in complete}, {each.name for each in folders - complete if each.is_dir()}


def kill_at_a_step(site: Site, worker: Process, training: int) -> None:
    until(lambda: checkpoints(site, training)[0], "a checkpoint", 120)
    time.sleep(random.uniform(0, 0.4))
    worker.kill()


def is_killed_in_a_checkpoint(site: Site, worker: Process, training: int) -> bool:
    """Kill the worker when a checkpoint is incomplete. Return whether it still is afterwards."""
    until(lambda: checkpoints(site, training)[1], "a checkpoint that is written", 120)
    worker.kill()
    return bool(checkpoints(site, training)[1])


@pytest.mark.row(65)
def test_trainings_killed_at_any_moment_end_with_the_weights_of_undisturbed_ones(site: Site) -> None:
    whole = {family: begin(site, family, f"{family}, whole", OFTEN) for family in FAMILIES}
    worker = site.start_worker("gpu")
    expected = {family: done(site, training) for family, training in whole.items()}
    worker.kill()
    broken, incomplete = {}, dict.fromkeys(FAMILIES, 0)
    for family in FAMILIES:
        broken[family] = training = begin(site, family, f"{family}, broken", OFTEN)
        kill_at_a_step(site, site.start_worker("gpu"), training)
        while not incomplete[family]:
            worker = site.start_worker("gpu")
            incomplete[family] += is_killed_in_a_checkpoint(site, worker, training)
            if state(site, training)["state"] == "failed":
                site.call("resume", module="trainings", training=training)
        site.start_worker("gpu")
        ended = done(site, training)
        assert ended["result"]["weights"] == expected[family]["result"]["weights"], family
        assert ended["curve"] == expected[family]["curve"], family
        print(family, [phase["step"] for phase in ended["phases"]], ended["result"]["weights"][:12])
        for each in site.others:
            if each.is_running:
                each.kill()


@pytest.mark.row(65)
def test_a_suspended_worker_that_wakes_mixes_no_checkpoints(site: Site) -> None:
    expected, training = (begin(site, "bart", name, OFTEN) for name in ("whole", "suspended"))
    first = site.start_worker("gpu")
    done(site, expected)
    until(lambda: checkpoints(site, training)[1], "a checkpoint that is written", 120)
    first.hold()
    time.sleep(LEASE)
    second = site.start_worker("gpu")
    ended = done(site, training)
    assert ended["result"]["weights"] == done(site, expected)["result"]["weights"]
    first.wake()
    until(lambda: "was taken over by another worker" in first.log.read_text(), "the first sees that it lost", 60)
    assert "Traceback" not in first.log.read_text()
    assert state(site, training) == ended
    assert not list((site.folder / "training").rglob("checkpoint-*"))
    assert second.is_running


def test_all_families_learn_to_prefer_what_their_inputs_say(site: Site) -> None:
    site.start_worker("gpu")
    site.start_worker()
    trainings = {family: begin(site, family, family, LEARN) for family in FAMILIES}
    for family, training in trainings.items():
        done(site, training)
        before, after = site.call("probe", module="trainings", family=family, training=training)
        print(family, before, after)
        assert after["loss"] < before["loss"] / 2, family
        assert abs(before["delta"]) < 0.1 < after["delta"], family
        assert after["accuracy"] > 0.8, family
