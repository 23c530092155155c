"""The loss of a language model: every position is asked for the token that follows it."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS, next_token_loss
from transformer_course.exercises.lesson_09_language_model.next_token_loss.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def next_token_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, shows, *, lengths=(), digits=None):
        """Draw texts without padding, then pad the ends of some."""
        tokens = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        tokens += tokens >= pad_id  # every token but the padding
        for row, length in enumerate(lengths):
            tokens[row, length:] = pad_id
        logits = 2 * normal(rng, batch, n, vocab_size)
        if digits is not None:  # to work by hand
            logits = logits.round(decimals=digits)
        return Case({"logits": logits, "tokens": tokens, "pad_id": pad_id}, shows)

    unexpected = case(3, 5, 7, 2, "padding that is not token 0, and that nobody expects", lengths=(2, 5, 3))
    unexpected.inputs["logits"][..., 2] -= 30
    sure = case(2, 4, 5, 4, "a model that is very sure, and often wrong", lengths=(4, 3))
    sure.inputs["logits"].mul_(100)
    right = case(2, 5, 3, 1, "a model that is very sure, and right about one token", lengths=(5, 4))
    right.inputs["logits"][0, 1, right.inputs["tokens"][0, 2]] += 200
    far = case(3, 3, 4, 3, "logits near 1000 and near -1000", lengths=(3, 2, 3))
    far.inputs["logits"][0] += 1000
    far.inputs["logits"][1] -= 1000
    return [
        case(1, 2, 3, 0, "2 tokens: one prediction", digits=1),
        case(1, 4, 3, 0, "4 tokens", digits=1),
        case(1, 5, 3, 0, "3 tokens and 2 of padding", lengths=(3,), digits=1),
        case(2, 4, 5, 0, "2 texts, one of which is padded", lengths=(4, 2), digits=1),
        unexpected,
        right,
        far,
        sure,
        case(5, 13, 11, 1, "5 texts, and gradients", lengths=(13, 3, 7, 2, 9)),
    ]


NEXT_TOKEN_LOSS = Exercise(
    reference=next_token_loss,
    steps=STEPS,
    cases=next_token_loss_cases,
    points=3,
    verified="Each position is asked for the token that follows it, every real token counts the same, and padding "
    "counts nothing.",
    hints=[
        "The logits at position t are about the token at t + 1. Which logits have no token that follows them, and "
        "which token has no logits before it?",
        "`logits[:, :-1]` and `tokens[:, 1:]` belong together, position by position.",
        "From there it is the loss of lesson 08 without smoothing: the log-softmax, the log-probability of each "
        "target, and minus the mean over the targets that are not `pad_id`.",
        "`torch.log_softmax(…, dim=-1)`, `.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`, and "
        "`losses[targets != pad_id].mean()`.",
    ],
    mistakes=MISTAKES,
)
