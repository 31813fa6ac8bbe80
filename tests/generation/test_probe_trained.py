"""The probe on a trained model: true texts become more likely than false ones, and a tie is no success."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from django.conf import LazySettings

from generation.backends.protocol import InputText, Probed, ProbedUnit, Source
from generation.backends.seq2seq import Seq2SeqBackend
from measures.probe import Pair, TextNll, probe_table
from tests.generation import tiny_models, unbatched
from tests.generation.findings import FINDINGS, OPPOSITE, read, said


def source(unit: int, finding: tuple[str, str, str]) -> Source:
    return Source(unit, str(unit), (InputText(read(*finding)),))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BART of two layers trained on all findings for twenty epochs, saved as "trained"."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    words = tiny_models.tokenizer("bart")
    model = tiny_models._model("bart", len(words))
    ids = words([read(*finding) for finding in FINDINGS], padding=True, return_tensors="pt")
    labels = words([said(*finding) for finding in FINDINGS], padding=True, return_tensors="pt")
    targets = labels.input_ids.masked_fill(labels.attention_mask == 0, -100)
    optimiser = torch.optim.AdamW(model.parameters(), lr=6e-3)
    order = torch.Generator().manual_seed(0)
    for _ in range(20):
        for batch in torch.randperm(len(FINDINGS), generator=order).split(50):
            loss = model(
                input_ids=ids.input_ids[batch], attention_mask=ids.attention_mask[batch], labels=targets[batch]
            ).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    folder = tmp_path_factory.mktemp("trained")
    model.save_pretrained(folder / "trained")
    words.save_pretrained(folder / "trained")
    return folder


Judge = Callable[[Callable[[str, str], tuple[str, str]]], list[tuple[TextNll, TextNll]]]


@pytest.fixture
def judge(trained: Path, settings: LazySettings) -> Judge:
    """``judge(texts)`` returns likelihoods of two texts for every fourth finding."""
    settings.MODELS_DIR = trained
    backend, config = Seq2SeqBackend(), unbatched.configured(Seq2SeqBackend(), "trained")
    summariser = backend.load(config, backend.facts(config))

    def judged(texts: Callable[[str, str], tuple[str, str]]) -> list[tuple[TextNll, TextNll]]:
        items = [
            Probed(source(i, finding), texts(said(*finding), said(finding[0], OPPOSITE[finding[1]], finding[2])))
            for i, finding in enumerate(FINDINGS)
            if i % 4 == 0
        ]
        found = [x for batch in summariser.probe(items) for x in batch if isinstance(x, ProbedUnit)]
        assert len(found) == len(items)
        first, second = zip(*(unit.likelihoods for unit in sorted(found, key=lambda x: x.unit)), strict=True)
        return [
            (TextNll.of_tokens(a.nll, a.special), TextNll.of_tokens(b.nll, b.special))
            for a, b in zip(first, second, strict=True)
        ]

    return judged


def table(pairs: list[tuple[TextNll, TextNll]]) -> tuple[float, float, int]:
    """Return delta, accuracy and ties over all pairs."""
    overall = probe_table([Pair(n, "antonym", *pair) for n, pair in enumerate(pairs)], ["antonym"])[-1]
    assert overall.delta.value is not None
    assert overall.accuracy.value is not None
    return overall.delta.value, overall.accuracy.value, overall.ties


@pytest.mark.long
def test_supported_texts_are_likelier_and_swapping_flips_the_sign(judge: Judge) -> None:
    delta, accuracy, ties = table(judge(lambda true, false: (true, false)))
    assert delta > 0.1
    assert accuracy > 0.9
    swapped = table(judge(lambda true, false: (false, true)))
    assert swapped == pytest.approx((-delta, 1 - accuracy - ties / 50, ties), abs=1e-5)


@pytest.mark.long
def test_a_text_compared_with_itself_is_a_tie_and_counts_as_wrong(judge: Judge) -> None:
    assert table(judge(lambda true, false: (true, true))) == (0, 0, 50)
