"""What goes wrong on the way from logits to one loss for each target."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS

MISTAKES = [
    Mistake(
        "forgets_the_minus",
        [STEPS.but(losses=lambda of_targets: of_targets)],
        does="the minus of −log p is missing",
        says="The sign is turned round: the better the model, the larger this loss. Training would make it worse.",
        hints=[
            "A log-probability is never above 0. Should a loss be below it?",
            "The loss of a token is −log p.",
            "A minus.",
        ],
    ),
]
