import pytest

from generation.backends.protocol import PassingError
from generation.neural.batches import Batching, Limits, Memory, length_bucket, run


class Machine:
    """Processes numbers and records them; out of memory above ``fits`` items, fails on ``bad``."""

    def __init__(self, fits: int = 100, bad: int | None = None, error: Exception | None = None) -> None:
        self.fits, self.bad, self.error = fits, bad, error
        self.batches: list[list[int]] = []
        self.freed = 0

    def __call__(self, batch: list[int]) -> list[int]:
        self.batches.append(batch)
        if len(batch) > self.fits:
            raise MemoryError
        if self.bad in batch:
            raise self.error or ValueError("cannot read this")
        return [number * 10 for number in batch]

    def run(self, numbers: list[int], limits: Limits | None = None, **batching: object) -> dict[int, int | Exception]:
        found: dict[int, int | Exception] = {}
        plan = Batching[int](length=lambda item: item, **{"tokens": 64, **batching})  # type: ignore[arg-type]
        memory = Memory(free=self.free, fatal=lambda error: isinstance(error, OSError))
        for done in run(numbers, self, batching=plan, memory=memory, limits=limits or Limits(), weights="w"):
            assert not found.keys() & {item for item, _ in done}
            found.update(done)
        return found

    def free(self) -> None:
        self.freed += 1


def test_batches_are_of_like_length_within_the_budget_and_every_item_is_done_once() -> None:
    machine = Machine()
    found = machine.run([3, 16, 30, 15, 4, 17, 100], items=3)
    assert found == {n: n * 10 for n in (3, 16, 30, 15, 4, 17, 100)}
    assert machine.batches == [[100], [30, 17], [16, 15, 4], [3]]


def test_only_items_of_one_group_share_a_batch() -> None:
    machine = Machine()
    machine.run([1, 2, 3, 4, 5], group=lambda item: item % 2)
    assert machine.batches == [[5, 3, 1], [4, 2]]


def test_out_of_memory_at_8_halves_and_is_remembered_for_the_same_and_longer_lengths() -> None:
    machine, limits = Machine(fits=4), Limits()
    found = machine.run(list(range(8, 0, -1)), limits)
    assert found == {n: n * 10 for n in range(1, 9)}
    assert [len(batch) for batch in machine.batches] == [8, 4, 4]
    assert machine.freed == 1
    again = Machine(fits=4)
    again.run(list(range(16, 8, -1)), limits, tokens=128)
    assert [len(batch) for batch in again.batches] == [4, 4]
    assert limits.of("w", 500) == 4
    assert limits.of("w", 3) is None
    assert limits.of("others", 8) is None


def test_one_item_that_does_not_fit_by_itself_fails_and_the_rest_is_done() -> None:
    machine = Machine()
    machine.fits = 0
    found = machine.run([5, 6])
    assert all(isinstance(error, MemoryError) for error in found.values())
    assert [len(batch) for batch in machine.batches] == [2, 1, 1]


def test_a_bad_item_fails_alone() -> None:
    machine = Machine(bad=3)
    found = machine.run([1, 2, 3, 4])
    assert isinstance(found.pop(3), ValueError)
    assert found == {1: 10, 2: 20, 4: 40}


@pytest.mark.parametrize("error", [PassingError("away"), OSError("the device is lost")])
def test_errors_that_no_item_causes_stop_the_run(error: Exception) -> None:
    with pytest.raises(type(error)):
        Machine(bad=3, error=error).run([1, 2, 3, 4])


def test_no_traceback_keeps_the_tensors_of_a_failed_batch() -> None:
    for error in Machine(bad=3).run([3]).values():
        assert isinstance(error, ValueError)
        assert error.__traceback__ is None
        assert error.__context__ is None


def test_lengths_are_remembered_by_powers_of_two() -> None:
    assert [length_bucket(length) for length in (0, 1, 2, 3, 64, 65)] == [1, 1, 2, 4, 64, 128]
