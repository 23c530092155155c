"""What goes wrong with top-k and top-p."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.sample_next.answer import STEPS

MISTAKES = [
    Mistake(
        "no_top_k",
        [STEPS.but(n_kept=lambda logits: logits.shape[-1])],
        does="top_k is not used",
        says="Tokens are drawn that are not among the `top_k` likeliest: `top_k` is not used.",
        hints=[
            "How many different tokens can come out with top_k=2?",
            "The logits of all other tokens should become −∞ before the softmax.",
            "`logits.topk(top_k).values[:, -1:]` holds the smallest logit that is kept in each row.",
        ],
    ),
    Mistake(
        "drops_the_token_that_reaches_p",
        [
            STEPS.but(
                superfluous=lambda candidates, order, top_p: (
                    candidates.gather(-1, order).cumsum(-1) > (2.0 if top_p is None else top_p)
                )
            )
        ],
        does="top-p drops the very token with which the mass reaches p",
        says=(
            "The token with which the mass reaches `top_p` is dropped, so what is left has less than that, or is "
            "nothing at all."
        ),
        hints=[
            "Probabilities 0.5, 0.3, 0.2 and top_p=0.6: which tokens should be kept?",
            "A token is superfluous if the mass of those *before* it has reached p.",
            "`ranked.cumsum(dim=-1) - ranked` is the mass before each token.",
        ],
    ),
]
