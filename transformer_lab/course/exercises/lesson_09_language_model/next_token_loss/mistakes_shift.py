"""What goes wrong when predictions meet the tokens that they are about."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS

MISTAKES = [
    Mistake(
        "no_shift",
        [STEPS.but(predictions=lambda logits: logits, targets=lambda tokens: tokens)],
        does="the logits at t are compared with the token at t itself",
        says=(
            "Nothing is shifted: each position is asked for the very token that it has just read. A model learns that "
            "at once, and can continue nothing."
        ),
        hints=[
            "Which token should the logits at position 0 predict?",
            "What follows the last position? What stands before the first token?",
            "`logits[:, :-1]` belongs to `tokens[:, 1:]`.",
        ],
    ),
    Mistake(
        "shifted_the_wrong_way",
        [STEPS.but(predictions=lambda logits: logits[:, 1:], targets=lambda tokens: tokens[:, :-1])],
        does="the logits at t are compared with the token at t − 1",
        says="The shift goes the wrong way: each position is asked for the token *before* it.",
        hints=[
            "Which token should the logits at position 0 predict?",
            "The first token is predicted by nothing, and the last logits predict nothing.",
            "`logits[:, :-1]` belongs to `tokens[:, 1:]`.",
        ],
    ),
]
