"""The heads: those among the weights, and those that the configuration's class asks for."""

from __future__ import annotations

from bertsmith.checkpoints.architectures import has_task_head
from bertsmith.checkpoints.checkpoint import Checkpoint
from bertsmith.checkpoints.locate import TENSORFLOW
from bertsmith.doctor.chart import Fact, Finding, Grade, Observations

POOLER, MASKED_LM, NEXT_SENTENCE = "bert.pooler.", "cls.predictions.", "cls.seq_relationship."
HEADS = {
    POOLER: "pooler",
    MASKED_LM: "masked LM",
    NEXT_SENTENCE: "next sentence",
    "classifier.": "classifier",
    "qa_outputs.": "answer span",
    "lstm.": "BiLSTM",
}
# Class of transformers -> heads that it has beside the encoder.
_CLASSES: dict[str, tuple[str, ...]] = {
    "BertModel": (),
    "BertForPreTraining": (MASKED_LM, NEXT_SENTENCE),
    "BertForMaskedLM": (MASKED_LM,),
    "BertForNextSentencePrediction": (NEXT_SENTENCE,),
    "BertForSequenceClassification": ("classifier.",),
    "BertForMultipleChoice": ("classifier.",),
    "BertForTokenClassification": ("classifier.",),
    "BertForQuestionAnswering": ("qa_outputs.",),
    "BertForFeatureBasedTagging": ("lstm.", "classifier."),
}


def heads(checkpoint: Checkpoint) -> Observations:
    """The heads among the weights, and those that the configuration's class asks for."""
    there = [name for prefix, name in HEADS.items() if checkpoint.has(prefix)]
    yield Fact("heads", there, ", ".join(there) or "none: an encoder alone")
    names, where = checkpoint.config.extra.get("architectures"), checkpoint.location.config.name
    if checkpoint.assumed:
        one = checkpoint.assumed
        yield Finding(Grade.WARNING if one.others else Grade.NOTE, one.text, where, one.mend)
    if not isinstance(names, list | tuple) or not names:
        if checkpoint.layout != TENSORFLOW:  # none of these configurations names one
            yield Finding(Grade.NOTE, "no class is named under architectures", where)
        return
    name = str(names[0])
    if name not in _CLASSES:
        yield Finding(
            Grade.WARNING,
            f"bertsmith does not know the class {name}: it reads the model as a "
            f"{_read_as(checkpoint)}",
            where, f"known: {', '.join(_CLASSES)}",
        )  # fmt: skip
        return
    lost = [HEADS[one] for one in _CLASSES[name] if not checkpoint.has(one)]
    if lost:
        yield Finding(
            Grade.BROKEN,
            f"{where} says {name}, but the weights have no {' and no '.join(lost)} head",
            checkpoint.file.name,
            "take the weights that have it, or name the class of what is there: "
            + (_class_of(checkpoint) or "BertModel"),
        )


def pooler(checkpoint: Checkpoint) -> Observations:
    """Whether there is a pooler where someone may want its vectors."""
    # The head of a task has one or needs none; where one is missing, its tensors are.
    if not checkpoint.has(POOLER) and not has_task_head(checkpoint.config.extra):
        yield Finding(
            Grade.WARNING,
            "there is no pooler: no pooled vectors, no next sentence, and the head of a sentence's "
            "class starts with a random one",
            checkpoint.file.name,
            "embed with --pooling mean",
        )


def _read_as(checkpoint: Checkpoint) -> str:
    """The class of a model whose own is not known: the heads of pre-training are read by name."""
    names = (checkpoint.has(MASKED_LM), checkpoint.has(NEXT_SENTENCE))
    return {
        (True, True): "BertForPreTraining",
        (True, False): "BertForMaskedLM",
        (False, True): "BertForNextSentencePrediction",
    }.get(names, "BertModel")


def _class_of(checkpoint: Checkpoint) -> str | None:
    """The first class whose heads are those of the weights."""
    there = {one for one in HEADS if one != POOLER and checkpoint.has(one)}
    fitting = [name for name, needs in _CLASSES.items() if set(needs) == there]
    return fitting[0] if fitting else None
