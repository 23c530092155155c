"""Mistakes in training: what is asked of the model, and how batches are put together."""

from tests.mutations.mutation import Edit, Mutation

STEP = "Trainer._step"
DIVIDED = "(_loss / _n_tokens).backward()"

TRAINER = [
    Mutation(46, "accumulated gradients not divided", Edit(STEP, DIVIDED, "_loss.backward()")),
    Mutation(
        46,
        "a mean of means",
        Edit(STEP, DIVIDED, "(_loss / (len(batches) * count_tokens(batch.labels, pad_id))).backward()"),
    ),
    Mutation(
        46,
        "the first step has one batch",
        Edit(
            STEP,
            "self.model.zero_grad()\nfor _batch in _batches: ...",
            "self.model.zero_grad()\nfor _batch in _batches[:1]: ...",
        ),
    ),
]

BATCHES = [
    Mutation(
        39,
        "the answers as the input",
        Edit("Batch.inputs", "(self.source, self.target[:, :-1])", "(self.source, self.target[:, 1:])"),
    ),
    Mutation(
        39,
        "a text's answers as the input",
        Edit("TextBatch.inputs", "self.tokens[:, :-1]", "self.tokens[:, 1:]"),
    ),
]

LOSS = [
    Mutation(
        40,
        "shifted twice",
        Edit(
            "batch_loss",
            "smoothed_cross_entropy(_logits, _labels, ...)",
            "smoothed_cross_entropy(_logits[:, :-1], _labels[:, 1:], ...)",
        ),
    ),
    Mutation(
        44,
        "padding counted",
        Edit(
            "smoothed_cross_entropy",
            "F.cross_entropy(_logits, _targets, ..., ignore_index=pad_id)",
            "F.cross_entropy(_logits, _targets, ...)",
        ),
    ),
    Mutation(44, "padding counted in the mean", Edit("count_tokens", "_targets != pad_id", "_targets == _targets")),
    Mutation(
        45,
        "softmax before the cross-entropy",
        Edit("smoothed_cross_entropy", "F.cross_entropy(_logits, ...)", "F.cross_entropy(_logits.softmax(-1), ...)"),
    ),
]

TABLE = {"data/batches": BATCHES, "training/trainer": TRAINER, "training/loss": LOSS}
