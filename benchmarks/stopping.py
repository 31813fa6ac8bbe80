"""Train a random model to end texts at different lengths. Random weights end all texts at once or never.

The first word of an input determines the length of its text, one of `PACES`. Weights stay random except for two
changes. The row of the end token is lengthened. The last decoder layer is trained for a minute, with a fixed seed, to
predict the end token from the given length on and not before. The text before the end is noise, which costs as much as
any text.
"""

import random
from typing import Any

#: Lengths in tokens, including the end. Their words are consecutive numbers from `FIRST_WORD`.
PACES = (8, 14, 20, 26, 32, 38, 44, 50, 56, 62)
FIRST_WORD, END = 4, 2
#: Training parameters: items, batch size, words of an input (from, to), steps, learning rate.
ITEMS, TOGETHER, WORDS, STEPS, RATE = 96, 8, (24, 96), 240, 1e-3
#: Logit of the end token if its row and the state are parallel, and the threshold between end and no end.
LOUDEST, DIVIDE = 20.0, 5.0


def texts(count: int, lengths: tuple[int, int], vocabulary: int, seed: int = 0) -> list[str]:
    """Return random inputs whose first word encodes the length. Lengths of inputs and texts are independent."""
    chance = random.Random(seed)
    words = range(FIRST_WORD + len(PACES), vocabulary)
    return [
        " ".join(map(str, [FIRST_WORD + chance.randrange(len(PACES)), *chance.choices(words, k=length - 1)]))
        for length in (chance.randint(*lengths) for _ in range(count))
    ]


def teach(model: Any, vocabulary: int, *, steps: int | None = None, rate: float = RATE) -> float:
    """Train the model in place for ``steps`` steps (default `STEPS`).

    Return the share of positions at which it predicts the end correctly.
    """
    import torch

    with torch.no_grad():
        rows = model.get_input_embeddings().weight
        rows[END] *= LOUDEST / (rows.shape[1] ** 0.5 * rows[END].norm())
    layer, end = model.get_decoder().layers[-1], model.get_output_embeddings().weight[END].detach()
    lessons = _lessons(model, layer, vocabulary)
    layer.requires_grad_(True)
    optimiser = torch.optim.Adam(layer.parameters(), lr=rate)
    right = [0.0] * len(lessons)
    for step in range(steps or STEPS):
        (given, named), wanted = lessons[step % len(lessons)]
        says = layer(*given, **named) @ end - DIVIDE
        optimiser.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(says, wanted).backward()
        optimiser.step()
        right[step % len(lessons)] = float(((says > 0) == (wanted > 0)).float().mean())
    layer.requires_grad_(False)
    return sum(right) / len(right)


def _lessons(model: Any, layer: Any, vocabulary: int) -> list[tuple[Any, Any]]:
    """Return inputs of the layer for batches of texts, and (n, tokens) of 0 and 1 that mark where each should end."""
    import torch

    chance, caught, wanted = random.Random(1), [], []
    items = sorted((list(map(int, text.split())) for text in texts(ITEMS, WORDS, vocabulary, seed=1)), key=len)
    model.requires_grad_(False)
    catching = layer.register_forward_pre_hook(lambda _, *given: caught.append(given), with_kwargs=True)
    for first in range(0, ITEMS, TOGETHER):
        some = items[first : first + TOGETHER]
        longest = len(some[-1])
        ids = torch.tensor([[0, *words, END, *[1] * (longest - len(words))] for words in some], device=model.device)
        written = [[END, *(chance.randrange(FIRST_WORD, vocabulary) for _ in range(PACES[-1] - 1))] for _ in some]
        paces = torch.tensor([PACES[words[0] - FIRST_WORD] for words in some])
        wanted.append((torch.arange(1, PACES[-1] + 1) >= paces[:, None]).float().to(model.device))
        with torch.no_grad():
            model.model(
                input_ids=ids,
                attention_mask=(ids != 1).long(),
                decoder_input_ids=torch.tensor(written, device=model.device),
                use_cache=False,
            )
    catching.remove()
    return list(zip(caught, wanted, strict=True))
