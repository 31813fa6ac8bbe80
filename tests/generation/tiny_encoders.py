"""Tiny BERT and RoBERTa models with random weights."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.generation import tiny_models
from tests.generation.tiny_models import SENTENCES

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "hidden_dropout_prob": 0.0,
}


def tokenizer(kind: str) -> Any:
    """Byte-level BPE with the special tokens of BERT or RoBERTa; without a maximum length, as in many saved
    tokenizers."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    first, last = ("[CLS]", "[SEP]") if kind == "bert" else ("<s>", "</s>")
    # RoBERTa's padding id is 1, and its positions start after it.
    specials = [first, "<pad>", last, "<unk>"]
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trained.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=specials,
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    trained.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B {last}",
        special_tokens=[(name, trained.token_to_id(name)) for name in (first, last)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=trained, cls_token=first, sep_token=last, pad_token="<pad>", unk_token="<unk>"
    )


def build(
    kind: str,
    folder: Path,
    *,
    labels: tuple[str, ...] = (),
    of_tokens: bool = False,
    positions: int = 40,
    seed: int = 0,
) -> Path:
    """Save an encoder (with a head if there are ``labels``: of sequences, or ``of_tokens``) and its tokenizer."""
    import torch
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        BertForTokenClassification,
        BertModel,
        RobertaConfig,
        RobertaForSequenceClassification,
        RobertaForTokenClassification,
        RobertaModel,
    )

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    words = tokenizer(kind)
    make, plain, of_sequences, of_words = {
        "bert": (BertConfig, BertModel, BertForSequenceClassification, BertForTokenClassification),
        "roberta": (RobertaConfig, RobertaModel, RobertaForSequenceClassification, RobertaForTokenClassification),
    }[kind]
    headed = of_words if of_tokens else of_sequences
    config = make(
        vocab_size=len(words),
        max_position_embeddings=positions,
        pad_token_id=words.pad_token_id,
        num_labels=len(labels) or 2,
        id2label=dict(enumerate(labels)) or None,
        **SIZES,
    )
    model = (headed if labels else plain)(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.5)
    model.eval().save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def build_sentence_encoder(folder: Path) -> Path:
    """Save a tiny encoder with random weights in the format of sentence-transformers."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel

    torch.set_num_threads(1)
    torch.manual_seed(0)
    words = tiny_models.tokenizer("bart")
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    with TemporaryDirectory() as bare:
        BertModel(BertConfig(vocab_size=len(words), **shape)).save_pretrained(bare)
        words.save_pretrained(bare)
        SentenceTransformer(modules=[Transformer(bare), Pooling(32)], device="cpu").save(str(folder))
    return folder
