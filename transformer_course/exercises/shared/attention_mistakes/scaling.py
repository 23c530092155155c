"""Mistakes in dividing by √d_k: the wrong size, the wrong function of d_k, or the wrong step."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake, Wording
from transformer_course.exercises.shared.attention_mistakes.weights import first_of
from transformer_course.steps import InSteps

SCALING_MESSAGES = {
    "part_left_out_divisor: width": Wording(
        "You divide the scores by d_k. The variance of the scores shrinks from d_k to 1/d_k, so for large d_k the "
        "weights become nearly uniform. What should you divide by to bring the variance to 1?",
        summary="you divide by d_k instead of √d_k",
        hints=["If you divide all the scores by c, what do you divide their variance by?"],
    ),
    "operator_divisor: (width) / (0.5)": Wording(
        "You divide the scores by 2 · d_k instead of √d_k. Python computes `**` before `/`, so in `d_k ** 1 / 2` or "
        "`d_k ** -1 / 2`, the 2 is not part of the exponent. Where do you need parentheses?",
        summary="you divide by 2 · d_k instead of √d_k",
        hints=["In a new cell, try `64 ** 1 / 2`. Is it 8?"],
    ),
}
"""Messages for generated mistakes in the divisor."""
ROOT_MESSAGES = {
    "power_divisor: (width) ** (-(0.5))": Wording(
        "{summary}, so their variance grows from d_k to d_k² instead of shrinking to 1. Dividing by `d_k ** -0.5` has "
        "the same effect. Which sign should the exponent have?",
        summary="you multiply the scores by √d_k instead of dividing by it",
        hints=["For d_k = 64, you should divide the scores by 8. What do you do to them?"],
    ),
    "operator_divisor: (width) * (0.5)": Wording(
        "{summary}: for d_k = 64, by 32 instead of 8. Which operator raises a number to the power 0.5?",
        summary="you divide the scores by half of d_k instead of √d_k",
        hints=["In a new cell, try `64 * 0.5`. Is it 8?"],
    ),
}
"""Messages for generated mistakes in the square root, in exercises that divide by √d_k themselves."""
ROOT_OF_D_MODEL = Wording(
    "{summary}. Each head compares vectors of width d_k = d_model / n_heads, so with 4 heads your scores are only "
    "half as large as they should be. What is the width of the vectors in each dot product?",
    summary="you divide by √d_model instead of √d_k",
    hints=["With d_model = 12 and 3 heads, how many products does each score add up?"],
)


def no_scaling(steps: InSteps) -> Mistake:
    """Return the mistake of not scaling. Unlike a generated mistake, it is also found in code that crashes."""
    return Mistake(
        "no_scaling",
        steps.but(**{first_of(steps, "scaled", "scores"): lambda products: products}),
        summary="you don't divide by √d_k",
        message=(
            "You don't divide the scores by √d_k. For large d_k, the scores become so large that most rows put nearly "
            "all their weight on one key. How does the variance of a score grow with d_k?"
        ),
        hints=[
            "`score_variance` from lesson 02 computes the variance of q·k. What should you divide q·k by to make its "
            "variance 1?"
        ],
    )


def root_of_the_number(of: str) -> Wording:
    """Return the message for using the number of keys or queries instead of their width."""
    n = "n_key" if of == "keys" else "n_query"
    return Wording(
        f"You divide by √{n}, the square root of the *number* of {of}. The scale should depend on their *width*, d_k. "
        "Which dimension is that?",
        summary=f"you divide by √{n} instead of √d_k",
        hints=[f"In {of} of shape (11, 6), which number is d_k?"],
    )


def of_scaling_too_early(steps: InSteps) -> list[Mistake]:
    """Return the mistakes of scaling the scores or normalizing the vectors in lesson 01, which does neither."""
    return [
        Mistake(
            "scaled_too_early",
            steps.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5),
            summary="you divide the scores by √d",
            message=(
                "{summary}, so your weights are too uniform: with d = 2, scores of 0 and 2 give 0.20 and 0.80 instead "
                "of 0.12 and 0.88. Lesson 02 introduces this scaling; here, use the plain dot products."
            ),
            hints=["The formula in this lesson is softmax(q kᵀ). Does it divide the scores by anything?"],
        ),
        Mistake(
            "cosines",
            steps.but(scores=lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT),
            steps.but(scores=lambda queries, keys: _unit(queries) @ _unit(keys).mT),
            summary="you divide queries and keys by their lengths",
            message=(
                "{summary}, so your scores are cosines, and a query that is 10 times longer gets the same weights. It "
                "should get sharper weights. Here, use the plain dot products."
            ),
            hints=["What is the dot product of [1, 2] and [3, 4]? What is your score for them?"],
        ),
    ]


def _unit(x):
    """Normalize vectors to unit length. A zero vector becomes nan."""
    return x / x.norm(dim=-1, keepdim=True)
