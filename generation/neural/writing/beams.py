"""Beam search and greedy decoding of a batch, with exactly the tokens of transformers' `generate` for single items.

Only the cost differs. Encoder states are not copied for each beam (`sharing`), and a finished item leaves the batch,
whereas `generate` computes it until the last item is finished. The logits processors and the beam search steps are
those of transformers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessorList
from transformers.modeling_outputs import BaseModelOutput

from generation.neural.writing.decoding import Shared, cross_mask

#: Finished items are dropped once this share of the batch has finished, because dropping copies the rest.
_WORTH_DROPPING = 0.2
_NEVER = -1e9


@dataclass
class _Beams:
    """The state of a beam search over ``n`` items with ``k`` beams.

    Scores are sums of log-probabilities while running and length-normalised when finished. ``parents`` are the beams
    that each token came from.
    """

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
        self.ends = _as_list(settings.eos_token_id)
        self.eos = torch.tensor(self.ends, device=model.device)
        self.fill = settings.pad_token_id if settings.pad_token_id is not None else self.ends[0]

    def __call__(self, states: Tensor, mask: Tensor) -> list[list[int]]:
        """Return the token ids of each item, without the start token.

        ``states`` (n, S, d) and ``mask`` (n, S) are those of the encoder. Call `sharing.share_cross_attention` on the
        model first.
        """
        search = self._greedy if self.settings.num_beams == 1 else self._beams
        return [self.trimmed(row) for row in search(states, mask)]

    def trimmed(self, tokens: Sequence[int]) -> list[int]:
        """Return the tokens up to and including the first end token."""
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

    # Greedy decoding

    def _greedy(self, states: Tensor, mask: Tensor) -> list[list[int]]:
        settings, processors = self.settings, self._processors()
        step = _Step(self.model, states, mask)
        unfinished = list(range(len(states)))
        outputs: list[list[int]] = [[] for _ in unfinished]
        tokens = torch.full((len(states), 1), settings.decoder_start_token_id, device=states.device)
        while tokens.shape[1] < settings.max_length:
            # As in transformers: greedy decoding processes logits, beam search processes log-probabilities.
            scores = processors(tokens, step(tokens[:, -1:]))
            tokens = torch.cat([tokens, scores.argmax(dim=-1, keepdim=True)], dim=1)
            ended = torch.isin(tokens[:, -1], self.eos).tolist()
            for row, end in enumerate(ended):
                outputs[unfinished[row]] = outputs[unfinished[row]] or (tokens[row, 1:].tolist() if end else [])
            open_rows = [row for row, item in enumerate(unfinished) if not outputs[item]]
            if not open_rows:
                return outputs
            if len(unfinished) - len(open_rows) >= max(1, _WORTH_DROPPING * len(unfinished)):
                kept = torch.tensor(open_rows, device=states.device)
                unfinished, tokens = [unfinished[row] for row in open_rows], tokens[kept]
                step.keep(kept, kept)
        for row, item in enumerate(unfinished):
            outputs[item] = outputs[item] or tokens[row, 1:].tolist()
        return outputs

    # Beam search

    def _beams(self, states: Tensor, mask: Tensor) -> list[list[int]]:
        processors = self._processors()
        step = _Step(self.model, states, mask)
        beams, length = self._start(len(states), states.device), 1
        unfinished = list(range(len(states)))
        outputs: dict[int, list[int]] = {}
        while True:
            rows = beams.running[:, :, :length].flatten(0, 1)
            ended = self._advance(beams, self._log_probs(rows, step, processors), length)
            length += 1
            for row in torch.nonzero(ended).flatten().tolist():
                if unfinished[row] not in outputs:
                    outputs[unfinished[row]] = self._best(beams, row)
            open_rows = [row for row, item in enumerate(unfinished) if item not in outputs]
            if not open_rows:
                return [outputs[item] for item in range(len(states))]
            parents = beams.parents[:, :, length - 2].long()
            if len(unfinished) - len(open_rows) >= max(1, _WORTH_DROPPING * len(unfinished)):
                kept = torch.tensor(open_rows, device=states.device)
                unfinished, beams, parents = [unfinished[row] for row in open_rows], beams.take(kept), parents[kept]
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
        # All beams start equal. Only the first may be continued, or they would stay equal.
        scores[:, 1:] = _NEVER
        return _Beams(
            running,
            scores,
            parents,
            running.clone(),
            torch.full(shape, _NEVER, device=device),
            parents.clone(),
            torch.zeros(shape, dtype=torch.bool, device=device),
            torch.ones((items, 1), dtype=torch.bool, device=device),
        )

    def _advance(self, beams: _Beams, log_probs: Tensor, length: int) -> Tensor:
        """Append one token, in place, and return which items are finished: (n,)."""
        model, settings = self.model, self.settings
        items, width = beams.scores.shape
        keep = max(2, 1 + len(self.eos)) * width
        total = (log_probs.view(items, width, -1) + beams.scores[:, :, None]).view(items, -1)
        scores, running, parents = model._get_top_k_continuations(
            accumulated_log_probs=total,
            running_sequences=beams.running,
            running_beam_indices=beams.parents,
            cur_len=length,
            decoder_prompt_len=1,
            do_sample=False,
            beams_to_keep=keep,
            num_beams=width,
            batch_size=items,
        )
        ends = torch.isin(running[:, :, length], self.eos) | (length + 1 >= settings.max_length)
        beams.running, beams.scores, beams.parents = model._get_running_beams_for_next_iteration(
            topk_log_probs=scores,
            topk_running_sequences=running,
            topk_running_beam_indices=parents,
            next_token_hits_stopping_criteria=ends,
            num_beams=width,
        )
        penalties = {"length_penalty": settings.length_penalty, "early_stopping": settings.early_stopping}
        beams.done, beams.done_scores, beams.done_parents, beams.is_done = model._update_finished_beams(
            sequences=beams.done,
            topk_running_sequences=running,
            beam_scores=beams.done_scores,
            topk_log_probs=scores,
            beam_indices=beams.done_parents,
            topk_running_beam_indices=parents,
            is_early_stop_heuristic_unsatisfied=beams.improvable,
            is_sent_finished=beams.is_done,
            next_token_hits_stopping_criteria=ends,
            num_beams=width,
            cur_len=length,
            decoder_prompt_len=1,
            top_num_beam_mask=torch.arange(keep, device=ends.device) < width,
            **penalties,
        )
        beams.improvable = model._check_early_stop_heuristic(
            is_early_stop_heuristic_unsatisfied=beams.improvable,
            running_beam_scores=beams.scores,
            beam_scores=beams.done_scores,
            is_sent_finished=beams.is_done,
            cur_len=length + 1,
            max_length=settings.max_length,
            decoder_prompt_len=1,
            **penalties,
        )
        full = beams.is_done.all(dim=1) & (settings.early_stopping is True)
        return ~beams.improvable[:, 0] | full | ends.all(dim=1)

    def _best(self, beams: _Beams, row: int) -> list[int]:
        length = int((beams.done_parents[row, 0] >= 0).sum())
        tokens: list[int] = beams.done[row, 0, 1 : 1 + length].tolist()
        return tokens


class _Step:
    """The decoder, one token at a time, over the states of the unfinished items."""

    def __init__(self, model: Any, states: Tensor, mask: Tensor) -> None:
        self.model, self.states, self.mask = model, states, cross_mask(model, states, mask)
        self.cache = Shared()

    def __call__(self, tokens: Tensor) -> Tensor:
        """Return logits (rows, V) in fp32 after one more token for each row (rows, 1)."""
        output = self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self.states),
            attention_mask=self.mask,
            decoder_input_ids=tokens,
            past_key_values=self.cache.both,
            use_cache=True,
        )
        return output.logits[:, -1].float()

    def follow(self, rows: Tensor) -> None:
        self.cache.follow(rows)

    def keep(self, items: Tensor, rows: Tensor) -> None:
        """Keep only ``items``, in rows that continue ``rows``."""
        self.states, self.mask = self.states[items], self.mask[items]
        self.cache.keep(items)
        self.cache.follow(rows)


def _as_list(value: int | list[int] | None) -> list[int]:
    return [] if value is None else [value] if isinstance(value, int) else list(value)
