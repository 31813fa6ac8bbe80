"""Likelihoods from encoder-decoders do not depend on the batch or earlier work."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import torch

from generation.backends.assembly import AS_MS2
from generation.backends.protocol import Failure, Probed, ProbedUnit, Source
from generation.backends.seq2seq import MultiEncodeBackend, Seq2SeqBackend
from generation.neural.batches import Limits
from generation.neural.judging import teacher_forcing
from generation.neural.summarisers.seq2seq import Seq2Seq
from tests.generation import tiny_models, unbatched

Models = Callable[[str], str]
#: Two have a common prefix, two are equal.
TEXTS = ("Aspirin reduced stroke.", "Aspirin reduced falls in adults.", "It did not.", "Aspirin reduced stroke.")


#: These models have wide weights, so rounding errors grow; test_likelihood has 1e-5 with ordinary ones.
def close(values: list[float]) -> Any:
    return pytest.approx(values, rel=1e-4, abs=1e-3)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    torch.set_num_threads(1)


def loaded(models: Models, kind: str, backend: Any = None, **sections: dict[str, Any]) -> Seq2Seq:
    backend = backend or Seq2SeqBackend()
    config = unbatched.configured(backend, models(kind), **{"decoding": {"beams": 2, "max_length": 12}, **sections})
    summariser = backend.load(config, backend.facts(config))
    assert isinstance(summariser, Seq2Seq)
    summariser.limits = Limits()
    return summariser


def judged(summariser: Seq2Seq, units: list[Source]) -> dict[int, list[list[float]]]:
    found = [x for batch in summariser.probe([Probed(unit, TEXTS) for unit in units]) for x in batch]
    assert len(found) == len(units)
    return {x.unit: [list(one.nll) for one in x.likelihoods] for x in found if isinstance(x, ProbedUnit)}


@pytest.mark.parametrize("kind", [kind for kind in tiny_models.KINDS if kind != "llama"])
def test_a_text_is_as_likely_alone_as_in_any_batch_and_after_any_work(models: Models, kind: str) -> None:
    summariser = loaded(models, kind)
    units = unbatched.sources(6)
    alone = {k: x for unit in units for k, x in judged(summariser, [unit]).items()}
    list(summariser.summarise(units))
    together = judged(summariser, units)
    assert summariser._probe is not None
    # The fast method is exact also if beams of an item share their cross-attention.
    in_line = kind in ("bart", "pegasus") and summariser.device.type == "cpu"
    quick = teacher_forcing.by_trees_in_line if in_line else teacher_forcing.by_trees
    assert summariser._probe.decode is quick
    for unit, likelihoods in alone.items():
        for one, other in zip(likelihoods, together[unit], strict=True):
            assert one == close(other)
        assert together[unit][0] == together[unit][3]


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_one_row_a_text_gives_the_same(models: Models, kind: str) -> None:
    summariser = loaded(models, kind)
    units = unbatched.sources(3)
    trees = judged(summariser, units)
    assert summariser._probe is not None
    summariser._probe.decode = teacher_forcing.by_rows
    for unit, rows in judged(summariser, units).items():
        for one, other in zip(rows, trees[unit], strict=True):
            assert one == close(other)


def test_ms2s_decoder_starts_from_bos_which_is_then_not_predicted(models: Models) -> None:
    for masking, firsts in ((AS_MS2, False), ("masked", True)):
        summariser = loaded(models, "bart", MultiEncodeBackend(), assembly={"masking": masking})
        [[unit]] = summariser.probe([Probed(unbatched.sources(1)[0], TEXTS)])
        assert isinstance(unit, ProbedUnit)
        assert (unit.likelihoods[0].token_ids[0] == summariser.loaded.tokenizer.bos_token_id) is firsts
        assert unit.likelihoods[0].special[0] is firsts
        assert unit.likelihoods[0].special[-1]


def test_how_a_version_decodes_changes_no_likelihood(models: Models) -> None:
    """Forced tokens, minimum lengths and blocked n-grams only affect generation: every text here violates them."""
    plain = judged(loaded(models, "bart"), unbatched.sources(2))
    rules = {
        "beams": 2,
        "max_length": 90,
        "min_length": 80,
        "no_repeat_ngram": 1,
        "forced_bos": "bos",
        "length_penalty": 2.0,
    }
    assert judged(loaded(models, "bart", decoding=rules), unbatched.sources(2)) == plain


def test_each_source_is_encoded_once_for_all_of_its_texts(models: Models) -> None:
    units = unbatched.sources(5)
    for backend, rows in ((Seq2SeqBackend(), 5), (MultiEncodeBackend(), sum(len(unit.inputs) for unit in units))):
        summariser = loaded(models, "bart", backend)
        with mock.patch.object(summariser.encoder, "states", wraps=summariser.encoder.states) as states:
            judged(summariser, units)
        assert sum(len(call.args[0]) for call in states.call_args_list) == rows


def test_batches_are_halved_when_out_of_memory_and_long_items_fail_alone(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    summariser = loaded(models, "bart")
    units = unbatched.sources(6)
    expected = judged(summariser, units)
    assert summariser._probe is not None
    judge, sizes = summariser._probe.judge, []

    def narrow(batch: list[Any]) -> Any:
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return judge(batch)

    monkeypatch.setattr(summariser._probe, "judge", narrow)
    items = [*(Probed(unit, TEXTS) for unit in units[1:]), Probed(units[0], ("Yes.", "stroke " * 200))]
    found = {x.unit: x for batch in summariser.probe(items) for x in batch}
    failure = found.pop(0)
    assert isinstance(failure, Failure)
    assert "at most 128" in failure.reason
    assert sizes == [5, 2, 2, 1]
    for unit, x in found.items():
        assert isinstance(x, ProbedUnit)
        assert [one.nll[0] for one in x.likelihoods] == pytest.approx([one[0] for one in expected[unit]], rel=1e-4)
