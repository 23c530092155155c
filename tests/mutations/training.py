"""Mistakes in training: what is asked of the model, and how batches are put together."""

from tests.mutations.mutation import Mutation

INPUT = "self.forward(batch.source, batch.target[:, :-1])"
ANSWERS = "logits, batch.target[:, 1:], self.model.config.target_pad_id"
DIVIDED = "(loss / n_tokens).backward()"
ACCUMULATED = "        for batch in batches:\n            share"

TRAINER = [
    Mutation(39, "the answers as the input", {INPUT: INPUT.replace(":-1", "1:")}),
    Mutation(40, "shifted twice", {ANSWERS: ANSWERS.replace("1:", "2:").replace("logits", "logits[:, :-1]")}),
    Mutation(46, "accumulated gradients not divided", {DIVIDED: "loss.backward()"}),
    Mutation(
        46,
        "a mean of means",
        {DIVIDED: DIVIDED.replace("n_tokens", "(len(batches) * count_tokens(batch.target[:, 1:], pad_id))")},
    ),
    Mutation(46, "the first step has one batch", {ACCUMULATED: ACCUMULATED.replace("batches", "batches[:1]")}),
]

LOSS = [
    Mutation(44, "padding counted", {"ignore_index=pad_id, ": ""}),
    Mutation(44, "padding counted in the mean", {"(targets != pad_id).sum()": "(targets == targets).sum()"}),
    Mutation(45, "softmax before the cross-entropy", {".float(), targets": ".float().softmax(-1), targets"}),
]

TABLE = {"training/trainer": TRAINER, "training/loss": LOSS}
