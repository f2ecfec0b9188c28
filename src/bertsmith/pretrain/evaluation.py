"""Held-out figures of a pre-trained model, and the baselines that they have to beat."""

from __future__ import annotations

import math
from collections import Counter

import torch

from bertsmith.corpus.corpus import Corpus
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.pretrain.batches import Batches
from bertsmith.pretrain.objective import pretraining_sums
from bertsmith.train.processes import ALONE, Processes, dealt

_KINDS = ("loss", "accuracy")


class HeldOut:
    """A fixed set of masked sequences from the held-out part, the same at every evaluation.

    Args:
        batches: batches over the held-out part.
        sequences: most sequences to use.
        batch_size: sequences a batch.
    """

    def __init__(self, batches: Batches, sequences: int, batch_size: int) -> None:
        available = len(batches.tiling)
        steps = max(1, min(sequences, available) // batch_size)
        self.batches = [batches.batch(step) for step in range(steps)]

    def evaluate(
        self, model: BertForPreTraining, micro_tokens: int, processes: Processes = ALONE
    ) -> dict[str, float]:
        """Masked-LM loss (nats), perplexity and accuracy; next-sentence loss and accuracy.

        Every sequence goes through the model of one process.
        """
        targets: Counter[str] = Counter()
        for batch in self.batches:
            targets.update(batch.targets)
        sums = dict.fromkeys([f"{name}_{kind}" for name in targets for kind in _KINDS], 0.0)
        micros = [micro for batch in self.batches for micro in batch.micro_batches(micro_tokens)]
        was_training = model.training
        model.eval()
        with torch.inference_mode():
            for micro, counts in dealt(micros, processes):
                found = pretraining_sums(model, micro)
                for name in targets if counts else ():
                    sums[f"{name}_loss"] += float(found.losses[name])
                    sums[f"{name}_accuracy"] += int(found.correct[name])
        model.train(was_training)
        sums = processes.sums(sums)
        result: dict[str, float] = {}
        for name, count in targets.items():
            result |= {f"{name}_{kind}": sums[f"{name}_{kind}"] / count for kind in _KINDS}
            result[f"{name}_targets"] = count
        result["perplexity"] = math.exp(min(result["masked_lm_loss"], 700.0))
        return result

    def baselines(self) -> dict[str, float]:
        """What a model reaches that knows the frequencies of the held-out targets only.

        ``most_frequent_token_accuracy`` and ``unigram_entropy`` (nats) are those of the very tokens
        that are predicted, so that the model is compared on the same targets; no model that ignores
        the context can do better on them.
        """
        counts = torch.cat([batch.masked_labels for batch in self.batches]).bincount().double()
        shares = counts[counts > 0] / counts.sum()
        result = {
            "most_frequent_token_accuracy": float(shares.max()),
            "unigram_entropy": float(-(shares * shares.log()).sum()),
        }
        if self.batches[0].pairs:
            labels = torch.cat([batch.next_labels for batch in self.batches]).double()
            result["next_sentence_accuracy"] = float(max(labels.mean(), 1 - labels.mean()))
        return result


def pairs_possible(corpus: Corpus) -> bool:
    """Whether a random next sentence can come from another document."""
    return corpus.documents > 1
