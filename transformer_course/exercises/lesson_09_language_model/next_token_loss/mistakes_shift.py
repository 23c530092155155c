"""What goes wrong when predictions meet the tokens that they are about."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS

MISTAKES = [
    Mistake(
        "no_shift",
        STEPS.but(predictions=lambda logits: logits, targets=lambda tokens: tokens),
        does="the logits at t are compared with the token at t itself",
        says=(
            "Nothing is shifted: each position is asked for the very token that it has just read. A model learns that "
            "at once, and can continue nothing."
        ),
        hints=["Which token should the logits at position 0 predict?"],
    ),
    Mistake(
        "shifted_the_wrong_way",
        STEPS.but(predictions=lambda logits: logits[:, 1:], targets=lambda tokens: tokens[:, :-1]),
        does="the logits at t are compared with the token at t − 1",
        says="The shift goes the wrong way: each position is asked for the token *before* it.",
        hints=["Which token should the logits at position 0 predict?"],
    ),
    Mistake(
        "runs_on_into_the_next_text",
        STEPS.but(
            predictions=lambda logits: logits.flatten(0, 1)[None, :-1],
            targets=lambda tokens: tokens.flatten()[None, 1:],
        ),
        does="the texts are joined before the shift, so that the end of one predicts the beginning of the next",
        says=(
            "Right for one text. The texts are made one long list before the shift, so the last position of each is "
            "asked for the first token of the *next* text."
        ),
        hints=["How many predictions do 2 texts of 4 tokens give? There should be 6."],
    ),
]
