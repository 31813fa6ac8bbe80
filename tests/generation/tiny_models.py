"""Tiny models of every family with random weights and a small tokenizer."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest
from django.conf import LazySettings

from generation.backends.assembly import EVIDENCE_MARKERS, MS2_MARKERS, TAG_MARKERS

SENTENCES = (
    "Statins lowered the risk of death in adults with heart disease.",
    "There is no evidence that vitamin D prevents falls in older people.",
    "Insulin glargine improved glycaemic control compared with placebo.",
    "The trial found no significant difference in pain between the groups.",
    "Exercise may reduce symptoms of depression in adolescents.",
    "Antibiotics did not shorten the duration of acute bronchitis.",
    "We included twelve randomised trials with 3,420 participants.",
    "Aspirin increased the risk of bleeding but reduced stroke.",
)
ALL_MARKERS = (*MS2_MARKERS, *TAG_MARKERS, *EVIDENCE_MARKERS)
KINDS = ("bart", "pegasus", "bigbird_pegasus", "led", "primera", "t5", "llama")
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
END = 12.0
_SIZES = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}


def text(number: int, sentences: int = 2) -> str:
    """Return a text of some sentences, different for every number."""
    return " ".join(SENTENCES[(number * 3 + n * (1 + number % 3)) % len(SENTENCES)] for n in range(sentences))


def build(kind: str, folder: Path, *, seed: int = 0, is_trainable: bool = False) -> None:
    """Save a model and its tokenizer.

    The weights have a large variance, so that logits differ; or the library's, from which a training learns well.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    words = tokenizer(kind)
    model = _model(kind, len(words))
    if not is_trainable:
        _spread(model)
    model.eval().save_pretrained(folder)
    words.save_pretrained(folder)


def _spread(model: Any) -> None:
    import torch

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "relative_attention_bias" not in name:
                cross = "encoder_attn" in name or "EncDecAttention" in name
                parameter.normal_(0.0, 1.0 if cross or "embed" in name or "shared" in name else 0.25)
        # Some texts end by themselves, others at the maximum length.
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias[0, model.config.eos_token_id] = END
        else:
            model.get_input_embeddings().weight[model.config.eos_token_id] *= 1.5


def tokenizer(kind: str) -> Any:
    """Return a byte-level BPE of at most 400 tokens with the special tokens of the family."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    bart_like = kind in ("bart", "led", "primera", "llama")
    specials = ["<s>", "<pad>", "</s>", "<unk>"] if bart_like else ["<pad>", "</s>", "<unk>", "<s>"]
    specials += {
        "bart": ALL_MARKERS,
        "led": MS2_MARKERS,
        "primera": ["<doc-sep>"],
        "llama": ["<|system|>", "<|user|>", "<|assistant|>"],
    }.get(kind, ["<n>"])
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trained.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(vocab_size=400, special_tokens=specials, initial_alphabet=alphabet, show_progress=False),
    )
    template = "<s> $A </s>" if bart_like and kind != "llama" else "<s> $A" if kind == "llama" else "$A </s>"
    trained.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[(name, trained.token_to_id(name)) for name in ("<s>", "</s>")]
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=trained, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    if kind == "llama":
        made.chat_template = TEMPLATE
    return made


def _model(kind: str, vocabulary: int) -> Any:
    import transformers as hf

    bart = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    pegasus = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 3, "decoder_start_token_id": 0}
    if kind == "bart":
        config: Any = hf.BartConfig(
            vocab_size=vocabulary, **_SIZES, **bart, max_position_embeddings=128, forced_eos_token_id=2
        )
        return hf.BartForConditionalGeneration(config)
    if kind == "pegasus":
        config = hf.PegasusConfig(vocab_size=vocabulary, **_SIZES, **pegasus, max_position_embeddings=128)
        return hf.PegasusForConditionalGeneration(config)
    if kind == "bigbird_pegasus":
        # With blocks of 4 the switch to full attention is at (5 + 2) * 4 = 28 tokens.
        config = hf.BigBirdPegasusConfig(
            vocab_size=vocabulary, **_SIZES, **pegasus, max_position_embeddings=256, block_size=4, num_random_blocks=1
        )
        return hf.BigBirdPegasusForConditionalGeneration(config)
    if kind in ("led", "primera"):
        config = hf.LEDConfig(
            vocab_size=vocabulary,
            **_SIZES,
            **bart,
            attention_window=8,
            max_encoder_position_embeddings=128,
            max_decoder_position_embeddings=64,
        )
        return hf.LEDForConditionalGeneration(config)
    if kind == "t5":
        config = hf.T5Config(
            vocab_size=vocabulary,
            d_model=32,
            d_kv=8,
            d_ff=48,
            num_layers=2,
            num_heads=4,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
            n_positions=128,
        )
        return hf.T5ForConditionalGeneration(config)
    config = hf.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    return hf.LlamaForCausalLM(config)


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def models(models_folder: Path, settings: LazySettings) -> Callable[[str], str]:
    """``models("bart")`` returns the name of a tiny model below MODELS_DIR, built once per session."""
    settings.MODELS_DIR = models_folder

    def named(kind: str) -> str:
        if not (models_folder / kind).is_dir():
            build(kind, models_folder / f".{kind}")
            (models_folder / f".{kind}").rename(models_folder / kind)
        return kind

    return named
