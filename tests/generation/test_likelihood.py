"""Likelihoods of several texts given one source equal one forward pass per text, in every family."""

import math
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import product
from typing import Any

import pytest
import torch

from generation.neural.judging import heads, teacher_forcing
from generation.neural.judging.heads import Segments
from generation.neural.judging.likelihood import Unscorable, choose_continuation, decoding, labels
from generation.neural.judging.prefix_tree import Tree
from generation.neural.judging.teacher_forcing import Nll
from tests.generation import tiny_models

ENCODER_DECODERS = ("bart", "pegasus", "bigbird_pegasus", "led", "t5")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
#: Families whose attention can be replaced by one per source; useful on a CPU only.
IN_LINE = ("bart", "pegasus")
QUICKEST = teacher_forcing.by_trees_in_line if DEVICE == "cpu" else teacher_forcing.by_trees
ON_A_CPU = pytest.mark.skipif(DEVICE == "cuda", reason="a GPU pads: texts in one line are a CPU's way")
#: Several texts per source: common prefixes, two equal texts, and a much longer one.
TEXTS = [
    ["Statins lowered the risk of death.", "Statins did not lower the risk of death.", "Statins raised the risk."],
    ["There is no evidence that exercise helps.", "Exercise helps.", "There is no evidence that exercise helps."],
    ["Aspirin reduced stroke.", "Aspirin may have reduced stroke in adults with heart disease and in older people."],
]


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    torch.set_num_threads(1)


def made(kind: str) -> tuple[Any, Any]:
    torch.manual_seed(0)
    words = tiny_models.tokenizer(kind)
    return tiny_models._model(kind, len(words)).to(DEVICE).eval(), words


def tensor(values: Any) -> torch.Tensor:
    return torch.tensor(values, device=DEVICE)


def coded(model: Any, words: Any) -> list[tuple[list[int], list[list[int]]]]:
    start = model.config.decoder_start_token_id
    return [
        (words(tiny_models.text(i, 2 + i))["input_ids"], labels(words, texts, start=start, longest=None)[0])
        for i, texts in enumerate(TEXTS)
    ]


def one_by_one(model: Any, source: Sequence[int], text: Sequence[int]) -> list[float]:
    """One forward pass per text with labels, and the cross-entropy of each."""
    with torch.inference_mode():
        logits = model(input_ids=tensor([source]), labels=tensor([text])).logits[0]
    found: list[float] = torch.nn.functional.cross_entropy(logits, tensor(text), reduction="none").tolist()
    return found


def together(model: Any, items: Sequence[tuple[list[int], list[list[int]]]], way: Any) -> list[Nll]:
    width = max(len(source) for source, _ in items)
    if hasattr(model.config, "attention_window"):
        width += -width % 8
    ids = tensor([source + [0] * (width - len(source)) for source, _ in items])
    mask = tensor([[1] * len(source) + [0] * (width - len(source)) for source, _ in items])
    with torch.inference_mode():
        states = model.get_encoder()(ids, attention_mask=mask).last_hidden_state
        found: list[Nll] = way(
            model, states, mask, [Tree(model.config.decoder_start_token_id, texts) for _, texts in items]
        )
    return found


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        *product(ENCODER_DECODERS, (teacher_forcing.by_trees, teacher_forcing.by_rows)),
        *(pytest.param(kind, teacher_forcing.by_trees_in_line, marks=ON_A_CPU) for kind in IN_LINE),
    ],
)
def test_a_batch_equals_one_forward_pass_per_text(kind: str, way: Any) -> None:
    model, words = made(kind)
    items = coded(model, words)
    if kind == "bigbird_pegasus":
        # Padding would change its blocks; sources of equal length are batched.
        model.get_encoder().set_attention_type("original_full")
    for (source, texts), found in zip(items, together(model, items, way), strict=True):
        for text, nll in zip(texts, found, strict=True):
            assert nll == pytest.approx(one_by_one(model, source, text), abs=1e-5)


@pytest.mark.parametrize("kind", ENCODER_DECODERS)
def test_an_untrained_model_finds_every_token_as_likely_as_any(kind: str) -> None:
    model, words = made(kind)
    if kind == "t5":
        # T5 starts with embeddings of standard deviation 1, so an untrained one has clear preferences; others start
        # with 0.02.
        model.shared.weight.data *= 0.02
    nll = [x for item in together(model, coded(model, words), teacher_forcing.by_trees) for text in item for x in text]
    assert sum(nll) / len(nll) == pytest.approx(math.log(model.config.vocab_size), rel=0.02)


@pytest.mark.parametrize("kind", [*ENCODER_DECODERS, "llama"])
def test_trees_are_exact_in_every_family_that_we_know(kind: str) -> None:
    model, _ = made(kind)
    if kind == "llama":
        assert choose_continuation(model) is teacher_forcing.by_prompt_and_trees
    else:
        assert decoding(model) is (QUICKEST if kind in IN_LINE else teacher_forcing.by_trees)


@pytest.mark.parametrize("kind", ENCODER_DECODERS)
def test_a_decoder_with_wrong_positions_is_read_by_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = made(kind)
    monkeypatch.setattr(teacher_forcing, "_positions", lambda decoder, depths: nullcontext())
    assert decoding(model) is teacher_forcing.by_rows


def test_a_decoder_whose_packed_texts_see_each_other_is_read_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = made("bart")
    everything = lambda self, dtype: torch.zeros(1, 1, self.width, self.width, device=DEVICE)  # noqa: E731
    monkeypatch.setattr(teacher_forcing._PackedTrees, "mask", everything)
    assert decoding(model) is teacher_forcing.by_rows


@ON_A_CPU
def test_sources_that_could_read_each_other_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = made("bart")
    monkeypatch.setattr(teacher_forcing, "Segments", lambda tokens, states: Segments([sum(tokens)], [sum(states)]))
    assert decoding(model) is teacher_forcing.by_trees


def test_a_vocabulary_in_parts_gives_what_it_gives_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model, words = made("bart")
    items = coded(model, words)
    # A bias as in PEGASUS: some tokens are never generated.
    model.final_logits_bias[0, :] = torch.linspace(-3, 3, len(words))
    model.final_logits_bias[0, 200:300] = float("-inf")
    monkeypatch.setattr(heads, "BYTES", {DEVICE: 4 * 70 * sum(len(Tree(2, texts)) for _, texts in items)})
    for (source, texts), found in zip(items, together(model, items, QUICKEST), strict=True):
        for text, nll in zip(texts, found, strict=True):
            assert nll == pytest.approx(one_by_one(model, source, text), abs=1e-5)


def test_an_output_layer_that_does_more_than_multiply_makes_its_own_logits() -> None:
    model, _ = made("bart")

    class Capped(torch.nn.Linear):  # type: ignore[misc]
        def forward(self, given: torch.Tensor) -> torch.Tensor:
            return super().forward(given).tanh()

    capped = Capped(32, model.lm_head.out_features, bias=False)
    capped.weight = model.lm_head.weight
    model.lm_head = capped
    way = decoding(model)
    assert (getattr(way, "func", None), getattr(way, "keywords", None)) == (teacher_forcing.by_trees, {"whole": True})


def test_a_decoder_whose_positions_are_unknown_has_one_row_a_text() -> None:
    model, _ = made("t5")
    for layer in model.get_decoder().block:
        layer.layer[0].SelfAttention.has_relative_attention_bias = True
    with (
        pytest.raises(LookupError),
        teacher_forcing._positions(model.get_decoder(), torch.zeros(1, 1, dtype=torch.long)),
    ):
        pass


def test_the_model_is_left_as_it_was() -> None:
    model, words = made("bart")
    items = coded(model, words)
    before = one_by_one(model, items[0][0], items[0][1][0])
    together(model, items, QUICKEST)
    assert one_by_one(model, items[0][0], items[0][1][0]) == before
    assert "forward" not in vars(model.get_decoder().embed_positions)
    assert not model.get_output_embeddings()._forward_pre_hooks
    assert model.config._attn_implementation == "sdpa"


def test_equal_texts_tie_exactly() -> None:
    model, words = made("bart")
    for way in {teacher_forcing.by_trees, QUICKEST}:
        first, _, third = together(model, coded(model, words), way)[1]
        assert first == third


@pytest.mark.parametrize("way", [teacher_forcing.by_prompt_and_trees, teacher_forcing.by_prompt_rows])
def test_a_prompt_read_once_equals_one_forward_pass_per_prompt_and_text(way: Any) -> None:
    model, words = made("llama")
    prompts = [words(tiny_models.text(i, 1 + i), add_special_tokens=False)["input_ids"] for i in range(3)]
    texts = [[words(text, add_special_tokens=False)["input_ids"] + [2] for text in group] for group in TEXTS]
    with torch.inference_mode():
        found = way(model, prompts, [Tree(prompt[-1], group) for prompt, group in zip(prompts, texts, strict=True)])
        for prompt, group, nlls in zip(prompts, texts, found, strict=True):
            for text, nll in zip(group, nlls, strict=True):
                logits = model(input_ids=tensor([prompt + text])).logits[0, len(prompt) - 1 : -1]
                expected = torch.nn.functional.cross_entropy(logits, tensor(text), reduction="none")
                assert nll == pytest.approx(expected.tolist(), abs=1e-5)


def test_a_prompt_of_one_token_needs_no_cache() -> None:
    model, _ = made("llama")
    trees = [Tree(5, [[6, 7], [6, 8]])]
    with torch.inference_mode():
        shared, apart = (
            way(model, [[5]], trees) for way in (teacher_forcing.by_prompt_and_trees, teacher_forcing.by_prompt_rows)
        )
    assert shared[0][0] == pytest.approx(apart[0][0], abs=1e-5)


def test_a_model_with_a_window_reads_the_prompt_with_each_text() -> None:
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        sliding_window=64,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    assert choose_continuation(MistralForCausalLM(config).eval()) is teacher_forcing.by_prompt_rows


def test_a_model_that_scales_its_logits_has_them_scaled() -> None:
    from transformers import GraniteConfig, GraniteForCausalLM

    torch.manual_seed(0)
    config = GraniteConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        logits_scaling=0.1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    model = GraniteForCausalLM(config).to(DEVICE).eval()
    way = choose_continuation(model)
    assert getattr(way, "keywords", None) == {"whole": True}
    trees = [Tree(5, [[6, 7], [6, 8]])]
    with torch.inference_mode():
        [[found, _]] = way(model, [[9, 5]], trees)
        logits = model(input_ids=tensor([[9, 5, 6]])).logits[0, 1:]
    assert found == pytest.approx(
        torch.nn.functional.cross_entropy(logits, tensor([6, 7]), reduction="none").tolist(), abs=1e-5
    )


def test_special_tokens_are_marked_as_the_family_has_them() -> None:
    text = ["Aspirin reduced stroke."]
    for kind, firsts, lasts in (("bart", True, True), ("pegasus", False, True), ("t5", False, True)):
        ids, special = labels(tiny_models.tokenizer(kind), text, start=-1, longest=None)
        assert (special[0][0], special[0][-1]) == (firsts, lasts)
        assert not any(special[0][1:-1])
        assert len(ids[0]) == len(special[0])


def test_a_token_that_the_decoder_starts_from_is_not_predicted() -> None:
    words = tiny_models.tokenizer("bart")
    ids, special = labels(words, ["Aspirin reduced stroke."], start=words.bos_token_id, longest=None)
    assert ids[0][0] != words.bos_token_id
    assert special[0] == [False] * (len(ids[0]) - 1) + [True]


def test_a_word_that_the_tokenizer_does_not_know_is_content() -> None:
    words = tiny_models.tokenizer("bart")
    _, special = labels(words, ["<unk> reduced stroke."], start=-1, longest=None)
    assert sum(special[0]) == 2


def test_line_breaks_become_the_familys_token() -> None:
    words = tiny_models.tokenizer("pegasus")
    ids, _ = labels(words, ["One.\nTwo."], start=-1, longest=None, newline="<n>")
    assert words.convert_tokens_to_ids("<n>") in ids[0]


@pytest.mark.parametrize(("text", "why"), [(" ", "no likelihood"), ("", "no likelihood"), ("word " * 40, "at most 20")])
def test_a_text_without_a_likelihood_says_why(text: str, why: str) -> None:
    with pytest.raises(Unscorable, match=why):
        labels(
            tiny_models.tokenizer("bart"),
            ["Fine.", text.strip(" ") if why == "no likelihood" else text],
            start=-1,
            longest=20,
        )
