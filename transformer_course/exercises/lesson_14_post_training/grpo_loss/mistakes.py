"""What goes wrong in the loss of GRPO."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_14_post_training.grpo_loss.answer import STEPS

MISTAKES = [
    Mistake(
        "larger_of_the_two",
        STEPS.but(gain=lambda ratio, clipped, of_answers: torch.maximum(ratio * of_answers, clipped * of_answers)),
        does="the larger of the two products is taken, not the smaller",
        says="{does}. Then moving far always pays, which is what the clipping should prevent.",
        hints=["Advantage 1, ratio 1.5, clip 0.2: how much should be gained by the last 0.3?"],
    ),
    Mistake(
        "always_clipped",
        STEPS.but(gain=lambda clipped, of_answers: clipped * of_answers),
        does="the clipped ratio counts even where the other one is smaller",
        says=(
            "{does}: a token that moved the wrong way beyond the limit gets no gradient, and can never come back. Take "
            "the smaller of both products."
        ),
        hints=["Advantage −1, ratio 1.5: which of the two products is smaller, and which has a gradient?"],
    ),
    Mistake(
        "never_clipped",
        STEPS.but(gain=lambda ratio, of_answers: ratio * of_answers),
        does="the ratio is never clipped",
    ),
    Mistake(
        "clips_before_the_advantage",
        STEPS.but(gain=lambda ratio, clipped, of_answers: torch.minimum(ratio, clipped) * of_answers),
        does="the smaller of the two ratios is taken before the advantage is known",
        says=("{does}. With a negative advantage, the smaller *ratio* gives the larger product. Multiply first."),
        hints=["Ratios 1.5 and 1.2, advantage −1: which product is the smaller one?"],
    ),
    Mistake(
        "clips_above_only",
        STEPS.but(clipped=lambda ratio, clip: ratio.clamp(max=1 + clip)),
        does="the ratio is clipped above 1 + clip, and not below 1 − clip",
    ),
    Mistake(
        "clips_the_logarithm",
        STEPS.but(clipped=lambda log_p, log_p_before, clip: (log_p - log_p_before).clamp(-clip, clip).exp()),
        does="the difference of the log-probabilities is clipped, not the ratio",
    ),
    Mistake(
        "ratio_upside_down",
        STEPS.but(ratio=lambda log_p, log_p_before: (log_p_before - log_p).exp()),
        does="the ratio is that of before to now",
        says="{does}. Then a larger probability gives a smaller ratio, and training makes good answers rarer.",
        hints=["If a token has become twice as likely, what should the ratio be?"],
    ),
    Mistake(
        "ratio_of_log_probabilities",
        STEPS.but(ratio=lambda log_p, log_p_before: log_p / log_p_before),
        does="log-probabilities are divided by each other",
        says="{does}. The ratio of two probabilities is e to the *difference* of their logarithms.",
        hints=["log a − log b is the logarithm of what?"],
    ),
    Mistake(
        "difference_in_place_of_the_ratio",
        STEPS.but(ratio=lambda log_p, log_p_before: log_p - log_p_before),
        does="the ratio is left as a difference of logarithms",
        says="{does}: without `exp` it is 0, not 1, where nothing has changed.",
        hints=["Where log_p equals log_p_before, what should the ratio be?"],
    ),
    Mistake(
        "ratio_to_the_reference",
        STEPS.but(ratio=lambda log_p, log_p_reference: (log_p - log_p_reference).exp()),
        does="the ratio is taken to the reference, not to the model that sampled",
    ),
    Mistake(
        "drift_the_wrong_way_round",
        STEPS.but(behind=lambda log_p, log_p_reference: log_p - log_p_reference),
        does="d is log_p − log_p_reference, which is the wrong way round",
        says="{does}. The answers were sampled by the model, so d = log_p_reference − log_p.",
        hints=["Which of the two is subtracted from the other?"],
    ),
    Mistake(
        "difference_as_drift",
        STEPS.but(drift=lambda behind: -behind),
        does="the plain difference of the log-probabilities stands for the drift",
        says=("{does}. It is right on average, but negative at every other token; exp(d) − d − 1 never is."),
        hints=["What is the drift where d = 0? And for d = 1 and d = −1?"],
    ),
    Mistake(
        "without_the_drift",
        STEPS.but(objective=lambda gain: gain),
        does="nothing holds the model near the reference",
    ),
    Mistake(
        "drift_rewarded",
        STEPS.but(objective=lambda gain, drift, beta: gain + beta * drift),
        does="beta times the drift is added to the gain",
        says="{does}: a model that moves away from the reference is rewarded for it.",
        hints=["Should the loss be larger or smaller when the drift grows?"],
    ),
    Mistake(
        "padding_counts",
        STEPS.but(mean=lambda objective: objective.mean()),
        STEPS.but(mean=lambda objective, real: (objective * real).mean()),
        does="the mean runs over prompts and padding, too",
        says="{does}. Only tokens that the model wrote can be rewarded: those that are `real`.",
        hints=["By which number is the sum divided, and by which should it be?"],
    ),
    Mistake(
        "mean_of_means",
        STEPS.but(mean=lambda objective, real: ((objective * real).sum(dim=1) / real.sum(dim=1)).mean()),
        does="each answer is averaged first, and then the answers",
        says=(
            "{does}, so a token of a long answer counts less than one of a short answer. (The first paper on GRPO did "
            "this.) Here all real tokens count the same."
        ),
        hints=["Answers of 2 and 8 tokens: how much of the mean should each token be?"],
    ),
    Mistake(
        "forgets_the_minus",
        STEPS.but(loss=lambda mean: mean),
        does="the minus is missing: the optimizer would make the gain as small as it can",
    ),
    Mistake(
        "adds_up",
        STEPS.but(mean=lambda objective, real: objective[real].sum()),
        does="the tokens are added up, not averaged",
    ),
]
