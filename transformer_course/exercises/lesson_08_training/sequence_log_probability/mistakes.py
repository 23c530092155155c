"""What goes wrong when the log-probability of a sentence is computed."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.sequence_log_probability.answer import STEPS
from transformer_course.exercises.shared.log_probability_mistakes import another_base, of_given_targets, of_the_pick

MISTAKES = [
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, padding: logits.masked_fill(padding.unsqueeze(-1), 0.0),
            of_real_tokens=lambda of_tokens: of_tokens,
        ),
        does="the mask of the padding is applied to the logits",
        says="The padding is masked in the logits. A position whose logits are all equal still adds −log V to the sum.",
        hints=["What is the `log_softmax` of the logits 0, 0, 0?"],
    ),
    Mistake(
        "the_mean_of_the_tokens",
        STEPS.but(log_probability=lambda log_probability, padding: log_probability / (~padding).sum(-1)),
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens.mean(-1)),
        does="the mean over the tokens is taken, not the sum",
        says=(
            "This is the mean of the tokens. The probability of a sentence is a *product*, so that the logarithms are "
            "to be added up."
        ),
        hints=["Two tokens of probability 1/2: how likely are both together?"],
    ),
    Mistake(
        "the_log_of_a_product",
        STEPS.but(
            log_probabilities=lambda logits: logits.softmax(-1),
            filling=lambda: 1.0,
            log_probability=lambda of_real_tokens: of_real_tokens.prod(dim=-1).log(),
        ),
        does="the logarithm is taken of a product of probabilities, which becomes 0 for long sentences",
        says=(
            "The probabilities are multiplied first, and the logarithm comes last. For a long sentence the product is "
            "too small for a float: it becomes 0, and its logarithm −∞."
        ),
        hints=["What is 0.1 to the power of 50 in float32?"],
    ),
    Mistake(
        "the_likeliest_tokens",
        STEPS.but(of_tokens=lambda log_probabilities: log_probabilities.amax(-1)),
        does="the likeliest token is taken at each position, not the target",
        says="{does}: any sentence gets the same.",
        hints=["What part do the targets play, other than to say what is padding?"],
    ),
    *of_the_pick(
        STEPS,
        "of_tokens",
        "log_probabilities",
        STEPS.but(of_tokens=lambda log_probabilities, targets: log_probabilities[..., targets]),
    ),
    another_base(STEPS, "of_tokens"),
    *of_given_targets(STEPS, of_real_tokens=lambda of_tokens, padding: of_tokens * ~padding),
]
