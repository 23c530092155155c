"""What goes wrong when drafted tokens are accepted."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.accept.answer import STEPS

MISTAKES = [
    Mistake(
        "replacement_from_p",
        STEPS.but(rest=lambda p, n_accepted: p[n_accepted]),
        does="the replacement is drawn from p itself",
        says="{does}. Tokens that are likely in p were accepted often already, so they would come too often.",
    ),
    Mistake(
        "counts_after_a_rejection",
        STEPS.but(n_accepted=lambda passed: int(passed.sum())),
        does="tokens behind the first rejection count, too",
        says="{does}. They were drafted as the continuation of a token that is gone.",
    ),
    Mistake(
        "no_token_more",
        STEPS.but(rest=lambda rest, p, q, n_accepted: p[-2] if n_accepted == len(q) else rest),
        does="when all tokens are accepted, the last row of p, which follows them, is not used",
    ),
    Mistake("not_normalised", STEPS.but(following=lambda rest: rest), does="max(0, p − q) is not divided by its sum"),
    Mistake("ratio_inverted", STEPS.but(ratios=lambda ratios: 1 / ratios), does="q is divided by p, not p by q"),
    Mistake(
        "no_chance", STEPS.but(passed=lambda ratios: ratios >= 1), does="a token is rejected wherever p is below q"
    ),
]
