"""Shared parts of model benchmarks: the size of bart-base, a number tokenizer, and Django's setup."""

import os
from typing import Any

BASE = {
    "d_model": 768,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_ffn_dim": 3072,
    "decoder_ffn_dim": 3072,
    "encoder_attention_heads": 12,
    "decoder_attention_heads": 12,
}


def settle() -> None:
    """Set up Django for code that reads settings. The database is not used."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if not os.environ.get("SECRET_KEY"):
        os.environ.setdefault("DEBUG", "1")
    django.setup()


def numbers(vocabulary: int) -> Any:
    """Return a tokenizer whose words are numbers below the vocabulary size."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    specials = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    words = Tokenizer(models.WordLevel({**specials, **{str(n): n for n in range(4, vocabulary)}}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
