import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from generation.backends import every
from generation.backends.identity import hash_of
from generation.backends.protocol import BackendError, Failure, Finish, InputText, Probed, ProbedUnit, Source
from generation.backends.seq2seq import Seq2SeqBackend
from generation.neural.batches import Limits, Memory
from generation.neural.checkpoints import families, loading
from generation.neural.summarisers import seq2seq
from tests.generation import tiny_models, unbatched

Models = Callable[[str], str]
BACKEND = Seq2SeqBackend()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
FAMILIES = [kind for kind in tiny_models.KINDS if kind != "llama"]
DECODINGS: list[dict[str, Any]] = [
    {"beams": 4, "max_length": 24, "no_repeat_ngram": 3},
    {"beams": 3, "max_length": 20, "early_stopping": "yes", "length_penalty": 2.0, "min_length": 5},
    {"beams": 3, "max_length": 16, "early_stopping": "never", "length_penalty": 0.6},
    {"beams": 1, "max_length": 20},
    {"beams": 3, "max_length": 14, "forced_bos": "bos", "min_length": 6},
]


def loaded(models: Models, kind: str, **sections: dict[str, Any]) -> tuple[seq2seq.Seq2Seq, dict[str, Any]]:
    config = unbatched.configured(BACKEND, models(kind), **sections)
    facts = BACKEND.facts(config)
    summariser = BACKEND.load(config, facts)
    assert isinstance(summariser, seq2seq.Seq2Seq)
    return summariser, facts


def global_attention(kind: str, row: tuple[int, ...], separator: int | None) -> dict[str, Any]:
    if kind not in ("led", "primera"):
        return {}
    marked = [float(n == 0 or (kind == "primera" and token == separator)) for n, token in enumerate(row)]
    return {"global_attention_mask": torch.tensor([marked], device=DEVICE).long()}


def as_one_by_one(summariser: seq2seq.Seq2Seq, facts: dict[str, Any], kind: str) -> list[list[int]]:
    found = []
    for source in unbatched.sources(8):
        row = summariser.read(source).rows[0]
        if kind == "bigbird_pegasus":
            fresh = unbatched.model(summariser.config, facts)  # earlier batches must not matter
        else:
            fresh = summariser.__dict__.setdefault("fresh", unbatched.model(summariser.config, facts))
        extra = global_attention(kind, row, summariser.reader.separator_id)
        found.append(unbatched.generated(fresh, facts, row, **extra))
    return found


def test_the_backend_is_listed() -> None:
    assert "seq2seq" in {backend.key for backend in every()}


@pytest.mark.parametrize("kind", FAMILIES)
def test_batches_give_the_tokens_that_generate_gives_one_by_one(models: Models, kind: str) -> None:
    ends = set()
    for decoding in DECODINGS[: {"bart": 5, "led": 2}.get(kind, 1)]:
        summariser, facts = loaded(models, kind, decoding=decoding)
        found = unbatched.summarised(summariser, unbatched.sources(8))
        assert [list(found[n].token_ids or ()) for n in range(8)] == as_one_by_one(summariser, facts, kind)
        assert max(len(output.record["batch"]) for output in found.values()) > 1
        assert all(output.seconds > 0 for output in found.values())
        ends |= {output.finish for output in found.values()}
    # Lengths differ: items that end early leave their batch while others continue.
    assert ends == {Finish.COMPLETE, Finish.LENGTH}


def test_bigbird_does_not_depend_on_the_order_and_is_sparse_again_after_a_short_text(models: Models) -> None:
    summariser, _ = loaded(models, "bigbird_pegasus", decoding=DECODINGS[0])
    short = Source(0, "short", (InputText("Statins."),))
    long = [Source(n, f"long {n}", (InputText(tiny_models.text(n, 3)),)) for n in (1, 2)]
    before = unbatched.summarised(summariser, long)
    unbatched.summarised(summariser, [short])
    after = unbatched.summarised(summariser, long)
    assert [after[n].token_ids for n in (1, 2)] == [before[n].token_ids for n in (1, 2)]
    # Without a reset, long ones would be read with full attention, which changes the text.
    encoder = summariser.model.get_encoder()
    rows = [summariser.read(source).rows[0] for source in long]
    sparse = summariser.encoder.states(rows[:1])
    encoder.set_attention_type("original_full")
    full = encoder(input_ids=torch.tensor([rows[0]], device=DEVICE)).last_hidden_state
    assert not torch.allclose(sparse, full, atol=1e-3)


def test_bigbirds_of_unequal_blocks_are_never_encoded_together(models: Models) -> None:
    summariser, _ = loaded(models, "bigbird_pegasus", decoding=DECODINGS[0])
    lengths = [20, 33, 28, 36, 30, 5, 34, 29]
    batches = list(summariser.encoder.batches([[7] * length for length in lengths]))
    assert [[lengths[n] for n in batch] for batch in batches] == [[28, 20, 5], [30, 29], [36, 34, 33]]
    # In one batch, the padding of the shorter one becomes the last block, which is attended globally.
    rows = [(*range(50, 81), 1), (*range(50, 89), 1)]
    apart, together = summariser.encoder.states(rows[:1]), summariser.encoder.states(rows)
    assert not torch.allclose(apart[0], together[0, :32], atol=1e-3)


def test_primera_marks_every_document_cuts_each_to_its_share_and_attends_to_the_marks(models: Models) -> None:
    summariser, _ = loaded(models, "primera", assembly={"input_tokens": 60})
    mark = summariser.reader.separator_id
    assert mark == summariser.loaded.tokenizer.convert_tokens_to_ids("<doc-sep>")
    source = Source(
        0, "three", (InputText(tiny_models.text(1, 4)), InputText("Short."), InputText(tiny_models.text(2, 4)))
    )
    read = summariser.read(source)
    row = read.rows[0]
    marks = [n for n, token in enumerate(row) if token == mark]
    lengths = [end - start - 1 for start, end in zip([0, *marks], marks, strict=False)]
    assert row[0] == 0
    assert row[-2:] == (mark, 2)
    assert lengths[0] == lengths[2] == 60 // 3 - 2
    assert lengths[1] < 10
    full = sum(len(summariser.reader._tokens(text.text)) for text in source.inputs)
    assert read.cut == full - sum(lengths) > 0
    seen = summariser.encoder.attended(torch.tensor([row]))
    assert seen.nonzero()[:, 1].tolist() == [0, *marks]


def test_led_attends_fully_to_the_first_token_only(models: Models) -> None:
    summariser, _ = loaded(models, "led")
    row = summariser.read(unbatched.sources()[2]).rows[0]
    assert summariser.encoder.attended(torch.tensor([row])).nonzero().tolist() == [[0, 0]]
    assert summariser.length(summariser.read(unbatched.sources()[2])) % 8 == 0


def test_ms2s_led_attends_to_the_background_from_everywhere(models: Models) -> None:
    assembly = {"markers": "ms2", "background": True, "full_attention": "background"}
    summariser, facts = loaded(models, "led", assembly=assembly, decoding=DECODINGS[0])
    units = [replace(source, background="Do statins help?") for source in unbatched.sources(4)]
    found = unbatched.summarised(summariser, units)
    words = summariser.loaded.tokenizer
    front = len(words("<background> Do statins help? </background>", add_special_tokens=False).input_ids)
    fresh = unbatched.model(summariser.config, facts)
    for source in units:
        read = summariser.read(source)
        row = read.rows[0]
        assert row[0] == words.convert_tokens_to_ids("<background>")
        assert row[front - 1 : front + 1] == tuple(words.convert_tokens_to_ids(["</background>", "<ref>"]))
        mask = torch.tensor([[1] * front + [0] * (len(row) - front)], device=DEVICE)
        expected = unbatched.generated(fresh, facts, row, global_attention_mask=mask)
        assert list(found[source.unit].token_ids or ()) == expected
    # With the first token only, the same rows have other states.
    rows = [summariser.read(units[2]).rows[0]]
    with torch.inference_mode():
        states = [summariser.encoder.states(rows, heads=heads) for heads in ([front], [1])]
    assert not torch.allclose(*states, atol=1e-3)


def test_global_attention_can_be_chosen(models: Models) -> None:
    source = Source(0, "two", (InputText("Statins."), InputText("Exercise.")), question="Do they?")
    for kind, chosen, separator, expected in (
        ("primera", "auto", "auto", ["<s>", "<doc-sep>", "<doc-sep>"]),
        ("primera", "first token", "auto", ["<s>"]),
        ("led", "auto", "</s>", ["<s>"]),
        ("led", "first token and separators", "</s>", ["<s>", "</s>", "</s>"]),
    ):
        summariser, _ = loaded(models, kind, assembly={"full_attention": chosen, "separator": separator})
        row = torch.tensor(summariser.read(source).rows)
        seen = row[summariser.encoder.attended(row).bool()]
        assert summariser.loaded.tokenizer.convert_ids_to_tokens(seen.tolist()) == expected


@pytest.mark.parametrize(
    ("kind", "assembly", "why"),
    [
        ("bart", {"full_attention": "first token"}, "Only LED"),
        ("led", {"full_attention": "background"}, "requires the background or the question"),
        ("led", {"full_attention": "first token and separators"}, "not a single token"),
        ("t5", {"markers": "ms2"}, "no token <background>"),
    ],
)
def test_unsupported_options_of_a_checkpoint_are_refused(
    models: Models, kind: str, assembly: dict[str, Any], why: str
) -> None:
    with pytest.raises(BackendError, match=why):
        BACKEND.facts(unbatched.configured(BACKEND, models(kind), assembly=assembly))


def test_a_unit_that_lacks_what_the_version_reads_fails_alone(models: Models) -> None:
    summariser, _ = loaded(models, "bart", assembly={"background": True}, decoding=DECODINGS[3])
    has, lacks = unbatched.sources(2)
    found = [out for batch in summariser.summarise([replace(has, background="Known."), lacks]) for out in batch]
    assert Failure(1, "The unit has no background, which this version requires.") in found
    assert len(found) == 2
    (failed,) = [out for batch in summariser.probe([Probed(lacks, ("It helps.",))]) for out in batch]
    assert failed == Failure(1, "The unit has no background, which this version requires.")


@pytest.mark.parametrize("kind", ["pegasus", "bigbird_pegasus"])
def test_pegasus_writes_lines_and_not_their_sign(models: Models, kind: str) -> None:
    summariser, _ = loaded(models, kind)
    tokenizer = summariser.loaded.tokenizer
    tokens = tokenizer("First line.<n>Second line.").input_ids
    assert tokenizer.convert_tokens_to_ids("<n>") in tokens
    assert summariser._text(tokens) == "First line.\nSecond line."


def test_a_custom_separator_is_put_between_documents(models: Models) -> None:
    summariser, _ = loaded(models, "bart", assembly={"separator": "|||||", "question": True})
    source = Source(0, "two", (InputText("Statins lowered the risk."), InputText("Exercise.")), question="Do they?")
    read = summariser.read(source)
    text = summariser.loaded.tokenizer.decode(read.rows[0])
    assert text == "<s>Do they? Statins lowered the risk.|||||Exercise.</s>"
    assert read.cut == 0


def test_t5_accepts_an_instruction_that_is_not_truncated(models: Models) -> None:
    summariser, _ = loaded(models, "t5", assembly={"prefix": "summarize: ", "input_tokens": 40})
    source = Source(0, "two", (InputText(tiny_models.text(1, 5)), InputText(tiny_models.text(2, 5))))
    words = summariser.loaded.tokenizer
    row = summariser.read(source).rows[0]
    assert len(row) == 40
    assert words.decode(row).startswith(f"summarize: {tiny_models.text(1, 1)[:20]}")


@pytest.mark.parametrize("budget", ["from the front", "equal shares"])
def test_inputs_beyond_the_limit_are_cut_and_counted(models: Models, budget: str) -> None:
    summariser, _ = loaded(models, "bart", assembly={"input_tokens": 40, "budget": budget})
    source = Source(0, "two", (InputText(tiny_models.text(1, 5)), InputText(tiny_models.text(2, 5))))
    read = summariser.read(source)
    assert read.tokens == 40
    whole, _ = loaded(models, "bart", assembly={"input_tokens": 127, "budget": budget})
    everything = [
        whole.reader._tokens(text if not n else f" {text}")
        for n, text in enumerate(text.text for text in source.inputs)
    ]
    assert read.cut == sum(map(len, everything)) - 38
    kept = (38, 0) if budget == "from the front" else (19, 19)
    assert list(read.rows[0][1:-1]) == everything[0][: kept[0]] + everything[1][: kept[1]]


def test_a_unit_without_text_fails_alone_with_a_message(models: Models) -> None:
    summariser, _ = loaded(models, "bart", decoding=DECODINGS[3])
    units = [Source(0, "empty", ()), *unbatched.sources(3)[1:]]
    found = [output for batch in summariser.summarise(units) for output in batch]
    assert Failure(0, "There is no text to summarise.") in found
    assert len(found) == 3


def test_out_of_memory_at_8_halves_is_remembered_and_changes_no_token(models: Models) -> None:
    whole, _ = loaded(models, "bart", decoding=DECODINGS[0])
    expected = unbatched.summarised(whole, unbatched.sources())
    summariser, _ = loaded(models, "bart", decoding=DECODINGS[0])
    summariser.limits = Limits()
    freed, sizes = [], []
    summariser.memory = Memory(out=loading.out_of_memory, free=lambda: freed.append(1))
    encode = summariser.encode

    def short_of_memory(batch: Any) -> Any:
        sizes.append(len(batch))
        if len(batch) >= 8:
            raise torch.OutOfMemoryError("injected")
        return encode(batch)

    summariser.encode = short_of_memory  # type: ignore[method-assign]
    found = unbatched.summarised(summariser, unbatched.sources())
    assert {n: output.token_ids for n, output in found.items()} == {n: o.token_ids for n, o in expected.items()}
    assert sizes[:2] == [12, 6]
    assert len(freed) == 1
    sizes.clear()
    unbatched.summarised(summariser, unbatched.sources())
    assert max(sizes) == 6


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU")
def test_a_full_gpu_halves_the_batch_frees_memory_and_changes_no_token(models: Models) -> None:
    whole, _ = loaded(models, "bart", decoding=DECODINGS[0])
    expected = unbatched.summarised(whole, unbatched.sources())
    summariser, _ = loaded(models, "bart", decoding=DECODINGS[0])
    summariser.limits = Limits()
    sizes: list[int] = []
    encode = summariser.encode

    def large(batch: Any) -> Any:
        sizes.append(len(batch))
        held = torch.empty(len(batch), 1 << 28, dtype=torch.uint8, device=DEVICE)  # a quarter of a GiB per item
        return encode(batch) if len(held) else None

    summariser.encode = large  # type: ignore[method-assign]
    torch.cuda.empty_cache()
    allowed = torch.cuda.memory_reserved() + (1 << 30)
    torch.cuda.set_per_process_memory_fraction(allowed / torch.cuda.mem_get_info()[1])
    try:
        found = unbatched.summarised(summariser, unbatched.sources())
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert {n: output.token_ids for n, output in found.items()} == {n: o.token_ids for n, o in expected.items()}
    assert sizes == [12, 6, 3, 3, 3, 3]
    assert {len(output.record["batch"]) for output in found.values()} == {3}
    assert {output.record["device"] for output in found.values()} == {"cuda"}


def test_one_bad_item_fails_alone(models: Models) -> None:
    summariser, _ = loaded(models, "bart", decoding=DECODINGS[0])
    encode = summariser.encode

    def choking(batch: Any) -> Any:
        if any(read.source.unit == 5 for read in batch):
            raise RuntimeError("cannot encode this")
        return encode(batch)

    summariser.encode = choking  # type: ignore[method-assign]
    found = {output.unit: output for batch in summariser.summarise(unbatched.sources()) for output in batch}
    assert found.pop(5) == Failure(5, "RuntimeError: cannot encode this")
    assert len(found) == 11
    assert not any(isinstance(output, Failure) for output in found.values())


def test_sampling_depends_on_seed_and_unit_alone(models: Models) -> None:
    decoding = {"method": "sampling", "temperature": 1.5, "top_p": 0.9, "max_length": 16}
    summariser, facts = loaded(models, "bart", decoding=decoding)
    assert facts["decoding"]["do_sample"] is True
    units = unbatched.sources()
    found = unbatched.summarised(summariser, units)
    again = unbatched.summarised(summariser, units[::-1][:5])
    assert all(again[n].token_ids == found[n].token_ids for n in again)
    assert all(output.record["batch"] == [n] for n, output in found.items())
    summariser.config = {**summariser.config, "seed": 1}
    other = unbatched.summarised(summariser, units)
    assert any(other[n].token_ids != found[n].token_ids for n in found)


def test_empty_settings_take_the_checkpoints_value_and_become_facts(models: Models, models_folder: Path) -> None:
    from transformers import GenerationConfig

    copy = models_folder / "bart-defaults"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(models_folder / models("bart"), copy)
    own = GenerationConfig.from_pretrained(copy)
    own.update(num_beams=6, max_length=62, min_length=11, no_repeat_ngram_size=3, length_penalty=0.8)
    own.save_pretrained(copy)
    decoding = BACKEND.facts(unbatched.configured(BACKEND, copy.name, decoding={"beams": 2}))["decoding"]
    assert decoding["num_beams"] == 2
    expected = {
        "max_length": 62,
        "min_length": 11,
        "no_repeat_ngram_size": 3,
        "length_penalty": 0.8,
        "decoder_start_token_id": 2,
        "forced_eos_token_id": 2,
    }
    assert expected.items() <= decoding.items()
    own.update(encoder_no_repeat_ngram_size=3)
    own.save_pretrained(copy)
    with pytest.raises(BackendError, match="encoder_no_repeat_ngram_size"):
        BACKEND.facts(unbatched.configured(BACKEND, copy.name))


def test_a_checkpoint_without_generation_config_decodes_as_its_old_config_says(
    models: Models, models_folder: Path
) -> None:
    copy = models_folder / "bart-old"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(models_folder / models("bart"), copy)
    (copy / "generation_config.json").unlink()
    own = {
        "num_beams": 3,
        "max_length": 18,
        "min_length": 7,
        "no_repeat_ngram_size": 3,
        "early_stopping": True,
        "length_penalty": 2.0,
    }
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | own))
    for decoding in ({}, {"method": "sampling"}):
        made = unbatched.configured(BACKEND, copy.name, decoding=decoding)
        facts = BACKEND.facts(made)
        ids = {"decoder_start_token_id": 2, "bos_token_id": 0, "eos_token_id": 2, "forced_eos_token_id": 2}
        assert (own | ids | ({"num_beams": 1} if decoding else {})).items() <= facts["decoding"].items()
        found = unbatched.summarised(BACKEND.load(made, facts), unbatched.sources(3))
        assert all(7 <= (output.tokens_out or 0) <= 17 for output in found.values())
    before = hash_of(made, BACKEND.facts(made))
    (copy / "config.json").write_text(json.dumps(config | own | {"num_beams": 4}))
    assert hash_of(made, BACKEND.facts(made)) != before


def test_the_decoder_starts_with_bos_where_asked_as_ms2s_checkpoints_do(models: Models) -> None:
    config = unbatched.configured(BACKEND, models("bart"), decoding={"decoder_start": "bos", "forced_bos": "none"})
    decoding = BACKEND.facts(config)["decoding"]
    assert decoding["decoder_start_token_id"] == 0
    assert decoding["forced_bos_token_id"] is None
    assert decoding["max_length"] == 128
    summariser, facts = loaded(models, "bart", decoding={"forced_bos": "bos", "beams": 2, "max_length": 8})
    assert facts["decoding"]["forced_bos_token_id"] == 0
    assert {(out.token_ids or ())[0] for out in unbatched.summarised(summariser, unbatched.sources(3)).values()} == {0}
    with pytest.raises(BackendError, match="no start token"):
        BACKEND.facts(unbatched.configured(BACKEND, models("t5"), decoding={"decoder_start": "bos"}))


def test_changed_defaults_in_the_model_folder_change_the_version(models: Models) -> None:
    config = unbatched.configured(BACKEND, models("bart"))
    facts = BACKEND.facts(config)
    facts["decoding"] = {**facts["decoding"], "num_beams": 9}
    with pytest.raises(BackendError, match=r"decoding\.num_beams: 9 became"):
        BACKEND.load(config, facts)


@pytest.mark.parametrize(("kind", "dtype"), [("bart", "auto"), ("pegasus", "bfloat16"), ("bigbird_pegasus", "auto")])
def test_texts_are_judged_in_float32_given_the_same_source(models: Models, kind: str, dtype: str) -> None:
    summariser, facts = loaded(models, kind, model={"dtype": dtype})
    items = [
        Probed(source, (tiny_models.text(n, 1), "Aspirin increased it."))
        for n, source in enumerate(unbatched.sources(4))
    ]
    found = {unit.unit: unit for batch in summariser.probe(items) for unit in batch}
    fresh = unbatched.model(summariser.config, facts)
    for n, item in enumerate(items):
        unit = found[n]
        assert isinstance(unit, ProbedUnit)
        ids = torch.tensor([summariser.read(item.source).rows[0]], device=DEVICE)
        for likelihood in unit.likelihoods:
            labels = torch.tensor([likelihood.token_ids], device=DEVICE)
            families.reset_attention(fresh, summariser.family.bucket(fresh.config, ids.shape[1]))
            with torch.inference_mode():
                loss = float(fresh(input_ids=ids, labels=labels).loss)
            assert sum(likelihood.nll) / len(likelihood.nll) == pytest.approx(loss, rel=1e-4)


def test_model_families_have_their_separators_and_line_breaks() -> None:
    assert families.PRIMERA.separator == "<doc-sep>"
    assert families.SEQ2SEQ["pegasus"].newline == families.SEQ2SEQ["bigbird_pegasus"].newline == "<n>"
    assert not families.SEQ2SEQ["pegasus"].float16
