"""Mistakes in the division by the root of d_k: another length, another function of it, or too early."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake, Wording
from transformer_course.exercises.shared.attention_mistakes.weights import first_of
from transformer_course.steps import InSteps

TOLD_OF_THE_SCALING = {
    "part_left_out_divisor: width": Wording(
        "All in all, the scores are divided by d_k, and not by its root: the weights become more and more even as d_k "
        "grows. Look at how dividing changes a variance.",
        summary="in all, the products are divided by a whole length, and not by its root",
        hints=["If all scores are divided by c, what happens to their variance?"],
    ),
    "operator_divisor: (width) / (0.5)": Wording(
        "A power of one half is meant, and Python reads something else: `**` binds more tightly than `/`. Look at what "
        "the scores are really divided by.",
        summary="the half in an exponent has no brackets, so that d_k is divided by 2",
        hints=["In a new cell, try `64 ** 1 / 2`. Is it 8?"],
    ),
}
"""What is said of generated mistakes in the divisor."""

ROOT_OF_D_MODEL = Wording(
    "{summary}. Each head compares vectors of the width d_k = d_model / n_heads.",
    summary="the products are divided by √d_model, not by √d_k",
    hints=["With d_model = 12 and 3 heads, how many products are added up in one score?"],
)


def no_scaling(steps: InSteps) -> Mistake:
    """Return the mistake of leaving out the division: written, so that it is also found beside a crash."""
    return Mistake(
        "no_scaling",
        steps.but(**{first_of(steps, "scaled", "scores"): lambda products: products}),
        summary="the products are not divided by √d_k",
        message="The scores are not scaled: at large d_k most rows put nearly all their weight on one key.",
        hints=["How does the spread of q·k grow with d_k? `score_variance` of lesson 02 says it."],
    )


def root_of_the_number(of: str) -> Wording:
    """Return what is said where the number of keys, or of queries, stands for their width."""
    return Wording(
        f"The products are divided by the root of the *number* of {of}, not of their width. Look at the axis whose "
        "length is taken.",
        summary=f"the products are divided by the root of the *number* of {of}, not of their width",
        hints=[f"In {of} of shape (11, 6), which number is the width d_k?"],
    )


def of_scaling_too_early(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in which the scores of lesson 01 are scaled or normalized."""
    return [
        Mistake(
            "scaled_too_early",
            steps.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5),
            summary="the scores are divided by √d",
            message=(
                "{summary}: usual in Transformers, and the subject of lesson 02. Here the plain dot products are asked "
                "for."
            ),
            hints=["The formula of this lesson is softmax(q kᵀ)."],
        ),
        Mistake(
            "cosines",
            steps.but(scores=lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT),
            steps.but(scores=lambda queries, keys: _unit(queries) @ _unit(keys).mT),
            summary="queries or keys are divided by their lengths",
            message="{summary}. Here the plain dot products are asked for.",
            hints=["Make a query 10 times longer. Should its weights get sharper?"],
        ),
    ]


def _unit(x):
    """Return vectors of length 1, and nan for vectors of zeros."""
    return x / x.norm(dim=-1, keepdim=True)
