"""Beam search and greedy decoding of a batch, token for token what transformers' `generate` does one item at a time.

Different are only the costs: encoder states are not copied for the beams (`sharing`), and an item that is done leaves
the batch, while `generate` computes it until the last one is done. What decides about tokens is transformers' own: its
logits processors and the steps of its beam search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessorList
from transformers.modeling_outputs import BaseModelOutput

from .sharing import Shared, cross_mask

#: A finished item is dropped when so large a part of the batch has finished: dropping copies the rest.
_WORTH_DROPPING = 0.2
_NEVER = -1e9


@dataclass
class _Beams:
    """The state of a beam search over ``n`` items of ``k`` beams. Scores are sums of log-probabilities while running
    and length-normalised when finished; ``parents`` are the beams that each token came from."""

    running: Tensor  # (n, k, longest)
    scores: Tensor  # (n, k)
    parents: Tensor  # (n, k, longest)
    done: Tensor  # (n, k, longest)
    done_scores: Tensor  # (n, k)
    done_parents: Tensor  # (n, k, longest)
    is_done: Tensor  # (n, k)
    improvable: Tensor  # (n, 1)

    def take(self, items: Tensor) -> "_Beams":
        return _Beams(*(value[items] for value in vars(self).values()))


class Decoder:
    """Decodes with one model and one configuration, resolved by `decoding.resolve`."""

    def __init__(self, model: Any, settings: GenerationConfig) -> None:
        self.model, self.settings = model, settings
        self.ends = _listed(settings.eos_token_id)
        self.eos = torch.tensor(self.ends, device=model.device)
        self.fill = settings.pad_token_id if settings.pad_token_id is not None else self.ends[0]

    def __call__(self, states: Tensor, mask: Tensor) -> list[list[int]]:
        """Token ids of each item, without the start token.

        ``states`` (n, S, d) and ``mask`` (n, S) are the encoder's. The model must have been given to
        `sharing.share_cross_attention`.
        """
        search = self._greedy if self.settings.num_beams == 1 else self._beams
        return [self.trimmed(row) for row in search(states, mask)]

    def trimmed(self, tokens: Sequence[int]) -> list[int]:
        """Tokens up to and with the first that ends a text."""
        for position, token in enumerate(tokens):
            if token in self.ends:
                return list(tokens[: position + 1])
        return list(tokens)

    def _processors(self) -> LogitsProcessorList:
        settings = GenerationConfig(**self.settings.to_dict())
        self.model._prepare_special_tokens(settings, device=self.model.device)
        return self.model._get_logits_processor(settings, input_ids_seq_length=1, device=self.model.device)

    def _log_probs(self, tokens: Tensor, step: "_Step", processors: LogitsProcessorList) -> Tensor:
        return processors(tokens, torch.log_softmax(step(tokens[:, -1:]), dim=-1))

    # -- greedy --------------------------------------------------------------------------------------------------------

    def _greedy(self, states: Tensor, mask: Tensor) -> list[list[int]]:
        settings, processors = self.settings, self._processors()
        step = _Step(self.model, states, mask)
        waiting = list(range(len(states)))
        found: list[list[int]] = [[] for _ in waiting]
        tokens = torch.full((len(states), 1), settings.decoder_start_token_id, device=states.device)
        while tokens.shape[1] < settings.max_length:
            # As transformers: greedy decoding processes logits, beam search log-probabilities.
            scores = processors(tokens, step(tokens[:, -1:]))
            tokens = torch.cat([tokens, scores.argmax(dim=-1, keepdim=True)], dim=1)
            ended = torch.isin(tokens[:, -1], self.eos).tolist()
            for row, end in enumerate(ended):
                found[waiting[row]] = found[waiting[row]] or (tokens[row, 1:].tolist() if end else [])
            open_rows = [row for row, item in enumerate(waiting) if not found[item]]
            if not open_rows:
                return found
            if len(waiting) - len(open_rows) >= max(1, _WORTH_DROPPING * len(waiting)):
                kept = torch.tensor(open_rows, device=states.device)
                waiting, tokens = [waiting[row] for row in open_rows], tokens[kept]
                step.keep(kept, kept)
        for row, item in enumerate(waiting):
            found[item] = found[item] or tokens[row, 1:].tolist()
        return found

    # -- beam search ---------------------------------------------------------------------------------------------------

    def _beams(self, states: Tensor, mask: Tensor) -> list[list[int]]:
        processors = self._processors()
        step = _Step(self.model, states, mask)
        beams, length = self._start(len(states), states.device), 1
        waiting = list(range(len(states)))
        found: dict[int, list[int]] = {}
        while True:
            rows = beams.running[:, :, :length].flatten(0, 1)
            ended = self._advance(beams, self._log_probs(rows, step, processors), length)
            length += 1
            for row in torch.nonzero(ended).flatten().tolist():
                if waiting[row] not in found:
                    found[waiting[row]] = self._best(beams, row)
            open_rows = [row for row, item in enumerate(waiting) if item not in found]
            if not open_rows:
                return [found[item] for item in range(len(states))]
            parents = beams.parents[:, :, length - 2].long()
            if len(waiting) - len(open_rows) >= max(1, _WORTH_DROPPING * len(waiting)):
                kept = torch.tensor(open_rows, device=states.device)
                waiting, beams, parents = [waiting[row] for row in open_rows], beams.take(kept), parents[kept]
                step.keep(kept, parents.flatten())
            else:
                step.follow(parents.flatten())

    def _start(self, items: int, device: torch.device) -> _Beams:
        settings = self.settings
        shape = (items, settings.num_beams)
        running = torch.full((*shape, settings.max_length), self.fill, device=device)
        running[:, :, 0] = settings.decoder_start_token_id
        parents = torch.full((*shape, settings.max_length - 1), -1, dtype=torch.int32, device=device)
        scores = torch.zeros(shape, device=device)
        # All beams begin alike: only the first may be continued, or the beams would stay equal.
        scores[:, 1:] = _NEVER
        return _Beams(
            running, scores, parents, running.clone(), torch.full(shape, _NEVER, device=device), parents.clone(),
            torch.zeros(shape, dtype=torch.bool, device=device),
            torch.ones((items, 1), dtype=torch.bool, device=device),
        )  # fmt: skip

    def _advance(self, beams: _Beams, log_probs: Tensor, length: int) -> Tensor:
        """One token more, in place. Which items are done: (n,)."""
        model, settings = self.model, self.settings
        items, width = beams.scores.shape
        keep = max(2, 1 + len(self.eos)) * width
        total = (log_probs.view(items, width, -1) + beams.scores[:, :, None]).view(items, -1)
        scores, running, parents = model._get_top_k_continuations(
            accumulated_log_probs=total, running_sequences=beams.running, running_beam_indices=beams.parents,
            cur_len=length, decoder_prompt_len=1, do_sample=False, beams_to_keep=keep, num_beams=width,
            batch_size=items,
        )  # fmt: skip
        ends = torch.isin(running[:, :, length], self.eos) | (length + 1 >= settings.max_length)
        beams.running, beams.scores, beams.parents = model._get_running_beams_for_next_iteration(
            topk_log_probs=scores, topk_running_sequences=running, topk_running_beam_indices=parents,
            next_token_hits_stopping_criteria=ends, num_beams=width,
        )  # fmt: skip
        penalties = {"length_penalty": settings.length_penalty, "early_stopping": settings.early_stopping}
        beams.done, beams.done_scores, beams.done_parents, beams.is_done = model._update_finished_beams(
            sequences=beams.done, topk_running_sequences=running, beam_scores=beams.done_scores,
            topk_log_probs=scores, beam_indices=beams.done_parents, topk_running_beam_indices=parents,
            is_early_stop_heuristic_unsatisfied=beams.improvable, is_sent_finished=beams.is_done,
            next_token_hits_stopping_criteria=ends, num_beams=width, cur_len=length, decoder_prompt_len=1,
            top_num_beam_mask=torch.arange(keep, device=ends.device) < width, **penalties,
        )  # fmt: skip
        beams.improvable = model._check_early_stop_heuristic(
            is_early_stop_heuristic_unsatisfied=beams.improvable, running_beam_scores=beams.scores,
            beam_scores=beams.done_scores, is_sent_finished=beams.is_done, cur_len=length + 1,
            max_length=settings.max_length, decoder_prompt_len=1, **penalties,
        )  # fmt: skip
        full = beams.is_done.all(dim=1) & (settings.early_stopping is True)
        return ~beams.improvable[:, 0] | full | ends.all(dim=1)

    def _best(self, beams: _Beams, row: int) -> list[int]:
        length = int((beams.done_parents[row, 0] >= 0).sum())
        found: list[int] = beams.done[row, 0, 1 : 1 + length].tolist()
        return found


class _Step:
    """The decoder, one token at a time, over the states of those items that are still open."""

    def __init__(self, model: Any, states: Tensor, mask: Tensor) -> None:
        self.model, self.states, self.mask = model, states, cross_mask(model, states, mask)
        self.cache = Shared()

    def __call__(self, tokens: Tensor) -> Tensor:
        """Logits (rows, V) in fp32 after one more token for each row (rows, 1)."""
        output = self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self.states), attention_mask=self.mask,
            decoder_input_ids=tokens, past_key_values=self.cache.both, use_cache=True,
        )  # fmt: skip
        return output.logits[:, -1].float()

    def follow(self, rows: Tensor) -> None:
        self.cache.follow(rows)

    def keep(self, items: Tensor, rows: Tensor) -> None:
        """Only ``items`` go on, in rows that continue ``rows``."""
        self.states, self.mask = self.states[items], self.mask[items]
        self.cache.keep(items)
        self.cache.follow(rows)


def _listed(value: int | list[int] | None) -> list[int]:
    return [] if value is None else [value] if isinstance(value, int) else list(value)
