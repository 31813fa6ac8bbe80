from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import GenerationConfig
from transformers.modeling_outputs import BaseModelOutput

from generation.backends import every
from generation.backends.assembly import AS_MS2, MS2_MARKERS
from generation.backends.protocol import BackendError, InputText, Probed, ProbedUnit, Source
from generation.backends.seq2seq import MultiEncodeBackend, Seq2SeqBackend
from generation.neural.summarisers import multi_encode, seq2seq
from tests.generation import tiny_models, unbatched

Models = Callable[[str], str]
BACKEND = MultiEncodeBackend()
DECODING = {"beams": 4, "max_length": 24, "no_repeat_ngram": 3}


def loaded(models: Models, kind: str, **sections: dict[str, Any]) -> tuple[multi_encode.MultiEncode, dict[str, Any]]:
    config = unbatched.configured(BACKEND, models(kind), **{"decoding": DECODING, **sections})
    facts = BACKEND.facts(config)
    summariser = BACKEND.load(config, facts)
    assert isinstance(summariser, multi_encode.MultiEncode)
    return summariser, facts


def joined(fresh: Any, facts: dict[str, Any], rows: list[tuple[int, ...]], *, masked: bool) -> list[int]:
    """As in MS^2 for one review: encode the rows, drop the padding, join, decode."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[1] * (longest - len(row))] for row in rows], device=fresh.device)
    mask = (torch.arange(longest) < torch.tensor([len(row) for row in rows])[:, None]).long().to(fresh.device)
    with torch.inference_mode():
        states = fresh.get_encoder()(
            input_ids=ids, attention_mask=mask if masked else torch.ones_like(mask)
        ).last_hidden_state[mask.bool()][None]
        found = fresh.generate(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=torch.ones(states.shape[:2], dtype=torch.long, device=fresh.device),
            generation_config=GenerationConfig(**facts["decoding"]),
        )[0, 1:].tolist()
    tokens: list[int] = found[: found.index(2) + 1] if 2 in found else found
    return tokens


def test_the_backend_is_listed() -> None:
    assert "multi_encode" in {backend.key for backend in every()}


@pytest.mark.parametrize("masking", ["masked", AS_MS2])
def test_studies_are_encoded_apart_and_decoded_together(models: Models, masking: str) -> None:
    summariser, facts = loaded(models, "bart", assembly={"masking": masking})
    found = unbatched.summarised(summariser, unbatched.sources())
    fresh = unbatched.model(summariser.config, facts)
    for source in unbatched.sources():
        rows = list(summariser.read(source).rows)
        assert len(rows) == len(source.inputs)
        expected = joined(fresh, facts, rows, masked=masking == "masked")
        assert list(found[source.unit].token_ids or ()) == expected
    assert max(len(output.record["batch"]) for output in found.values()) > 1


def test_the_checkpoints_padding_and_first_token_are_another_version(models: Models) -> None:
    masked, facts = loaded(models, "bart")
    unmasked, other = loaded(models, "bart", assembly={"masking": AS_MS2})
    assert facts["decoding"]["decoder_start_token_id"] == 2
    assert other["decoding"]["decoder_start_token_id"] == 0
    unequal = Source(0, "unequal", (InputText(tiny_models.text(1, 3)), InputText("Short.")))
    states = [summariser.encode([summariser.read(unequal)])[0] for summariser in (masked, unmasked)]
    # The longest study has no padding; the short one has.
    length = len(masked.read(unequal).rows[0])
    assert torch.allclose(states[0][0, :length], states[1][0, :length], atol=1e-5)
    assert not torch.allclose(states[0][0, length:], states[1][0, length:], atol=1e-3)


@pytest.mark.parametrize("kind", ["bart", "t5", "pegasus", "bigbird_pegasus", "led"])
def test_one_document_gives_what_seq2seq_gives(models: Models, kind: str) -> None:
    units = [Source(n, f"unit {n}", (InputText(tiny_models.text(n, 1 + n % 3)),)) for n in range(8)]
    summariser, _ = loaded(models, kind)
    plain = Seq2SeqBackend()
    config = unbatched.configured(plain, models(kind), decoding=DECODING)
    other = plain.load(config, plain.facts(config))
    assert isinstance(other, seq2seq.Seq2Seq)
    one, two = unbatched.summarised(summariser, units), unbatched.summarised(other, units)
    assert [one[n].token_ids for n in range(8)] == [two[n].token_ids for n in range(8)]
    assert [one[n].tokens_in for n in range(8)] == [two[n].tokens_in for n in range(8)]


def test_rows_are_ms2s_at_most_25_each_cut_and_counted(models: Models) -> None:
    summariser, _ = loaded(
        models, "bart", assembly={"markers": "ms2", "background": True, "titles": True, "input_tokens": 70}
    )
    studies = tuple(InputText(tiny_models.text(n, 4), title=f"Trial {n}") for n in range(30))
    read = summariser.read(Source(0, "review", studies, background="Do statins help?"))
    assert len(read.rows) == 25
    assert {len(row) for row in read.rows} == {70}
    # As in MS^2's code: no <s>, no </s>, and no space between background and study.
    words = summariser.loaded.tokenizer
    text = words.decode(read.rows[3])
    assert text.startswith("<background> Do statins help? </background><ref> Trial 3 <sep> ")
    assert [read.rows[3].count(words.convert_tokens_to_ids(marker)) for marker in MS2_MARKERS[:3]] == [1, 1, 1]
    assert not {words.bos_token_id, words.eos_token_id} & set(read.rows[3])
    assert read.cut > 25 * 10


def test_a_checkpoint_without_ms2s_tokens_cannot_read_its_rows(models: Models) -> None:
    config = unbatched.configured(BACKEND, models("pegasus"), assembly={"markers": "ms2"})
    with pytest.raises(BackendError, match="no token <background>"):
        BACKEND.facts(config)


def test_ms2_masking_is_for_bart_only(models: Models) -> None:
    with pytest.raises(BackendError, match="MS\\^2's checkpoints are BART"):
        BACKEND.facts(unbatched.configured(BACKEND, models("pegasus"), assembly={"masking": AS_MS2}))


def test_texts_are_judged_given_all_studies(models: Models) -> None:
    summariser, facts = loaded(models, "bart")
    items = [
        Probed(source, (tiny_models.text(n, 1), "Aspirin increased it."))
        for n, source in enumerate(unbatched.sources(4))
    ]
    found = {unit.unit: unit for batch in summariser.probe(items) for unit in batch}
    fresh = unbatched.model(summariser.config, facts)
    for n, item in enumerate(items):
        unit = found[n]
        assert isinstance(unit, ProbedUnit)
        states, mask = summariser.encode([summariser.read(item.source)])
        for likelihood in unit.likelihoods:
            with torch.inference_mode():
                loss = float(
                    fresh(
                        encoder_outputs=BaseModelOutput(last_hidden_state=states),
                        attention_mask=mask,
                        labels=torch.tensor([likelihood.token_ids], device=fresh.device),
                    ).loss
                )
            assert sum(likelihood.nll) / len(likelihood.nll) == pytest.approx(loss, rel=1e-4)
