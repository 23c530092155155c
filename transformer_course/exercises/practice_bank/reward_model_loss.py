"""Train a reward model on preferences: the Bradley–Terry loss on the scores at the last tokens.

``dpo_loss`` in lesson 14 has the same logistic form but needs no reward model.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def reward_model_loss(
    chosen: Float[Tensor, "batch n_chosen"],
    rejected: Float[Tensor, "batch n_rejected"],
    chosen_lengths: Int[Tensor, " batch"],
    rejected_lengths: Int[Tensor, " batch"],
    margin: Float[Tensor, " batch"],
) -> Float[Tensor, ""]:
    """Return the mean of −log σ(reward of chosen − reward of rejected − margin); a reward is the last token's score."""
    reward_chosen = chosen.gather(1, chosen_lengths[:, None] - 1).squeeze(1)
    reward_rejected = rejected.gather(1, rejected_lengths[:, None] - 1).squeeze(1)
    return -F.logsigmoid(reward_chosen - reward_rejected - margin).mean()


def reward_chosen(chosen, chosen_lengths):
    """take the score at the last token of each chosen answer → the reward of each chosen answer, (batch)"""
    return chosen.gather(1, chosen_lengths[:, None] - 1).squeeze(1)


def reward_rejected(rejected, rejected_lengths):
    """take the score at the last token of each rejected answer → the reward of each rejected answer, (batch)"""
    return rejected.gather(1, rejected_lengths[:, None] - 1).squeeze(1)


def difference(reward_chosen, reward_rejected):
    """subtract the rejected reward from the chosen reward → the difference of the rewards: chosen − rejected"""
    return reward_chosen - reward_rejected


def above_margin(difference, margin):
    """subtract the margin → the difference beyond the margin"""
    return difference - margin


def log_probability(above_margin):
    """take the log-sigmoid → the log-probability that the chosen answer wins: log σ(difference − margin)"""
    return F.logsigmoid(above_margin)


def loss(log_probability):
    """negate the mean log-probability → the loss: minus the mean log-probability"""
    return -log_probability.mean()


STEPS = InSteps(
    reward_chosen, reward_rejected, difference, above_margin, log_probability, loss, reference=reward_model_loss
)


def reward_model_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_chosen, n_rejected, chosen_lengths, rejected_lengths, shows, *, margin=0.0, apart=0.0):
        batch = len(chosen_lengths)
        inputs = {
            "chosen": normal(rng, batch, n_chosen) - apart,
            "rejected": normal(rng, batch, n_rejected) + apart,
            "chosen_lengths": torch.tensor(chosen_lengths),
            "rejected_lengths": torch.tensor(rejected_lengths),
            "margin": margin * torch.rand(batch, generator=rng),
        }
        return Case(inputs, shows)

    return [
        case(1, 1, [1], [1], "one pair of one token each"),
        case(2, 3, [2, 2], [3, 3], "2 pairs without padding"),
        case(4, 3, [1, 4, 2], [3, 1, 2], "3 pairs with padding"),
        case(3, 3, [2, 3, 1], [1, 2, 3], "3 pairs of the same width, with margins", margin=2.0),
        case(2, 4, [1, 2], [2, 4], "a model that is very wrong", apart=60.0),
        case(11, 13, [11, 5, 7, 2, 9], [13, 3, 8, 12, 1], "5 pairs of up to 13 tokens, with margins", margin=1.0),
    ]


MISTAKES = [
    Mistake(
        "score_of_the_padding",
        STEPS.but(reward_chosen=lambda chosen: chosen[:, -1], reward_rejected=lambda rejected: rejected[:, -1]),
        summary="you take the score of the last *column*",
        message="You take the score of the last column, which is padding for every answer shorter than the longest. "
        "Where does an answer of length 2 end?",
        hints=["An answer has length 2 in a batch of width 4. Which column holds its last token?"],
    ),
    Mistake(
        "one_past_the_end",
        STEPS.but(
            reward_chosen=lambda chosen, chosen_lengths: chosen.gather(
                1, chosen_lengths.clamp(max=chosen.shape[1] - 1)[:, None]
            ).squeeze(1),
            reward_rejected=lambda rejected, rejected_lengths: rejected.gather(
                1, rejected_lengths.clamp(max=rejected.shape[1] - 1)[:, None]
            ).squeeze(1),
        ),
        summary="you read one token past the end",
        message="You read the score one token past the end: an answer of length 2 has its tokens in the columns 0 "
        "and 1. Which column is the last one of an answer of length L?",
        hints=["An answer has length 1. In which column is its only token?"],
    ),
    Mistake(
        "mean_of_all_tokens",
        STEPS.but(
            reward_chosen=lambda chosen: chosen.mean(dim=1),
            reward_rejected=lambda rejected: rejected.mean(dim=1),
        ),
        summary="you average the scores of all tokens",
        message=(
            "You average the scores of all tokens, padding included. Only the last token has seen the whole answer. "
            "Which token's score is the reward?"
        ),
        hints=["In a causal model, which position has read the complete answer?"],
    ),
    Mistake(
        "prefers_the_rejected",
        STEPS.but(difference=lambda reward_chosen, reward_rejected: reward_rejected - reward_chosen),
        summary="you subtract the chosen reward from the rejected one",
        message="You subtract in the wrong order, so the loss falls when the *rejected* answer gets the larger reward. "
        "Which reward should be larger?",
        hints=["With rewards 2 for chosen and 1 for rejected, should the loss be below or above log 2?"],
    ),
    Mistake(
        "margin_added",
        STEPS.but(above_margin=lambda difference, margin: difference + margin),
        summary="you add the margin",
        message=(
            "You add the margin, so a pair with a clear preference needs a *smaller* difference. In Llama 2, a "
            "larger margin requires a larger difference. Which sign does that need?"
        ),
        hints=["With a margin of 2 and a difference of 2, what should the sigmoid get?"],
    ),
    Mistake(
        "log_of_the_sigmoid",
        STEPS.but(log_probability=lambda above_margin: torch.log(torch.sigmoid(above_margin))),
        summary="you take the logarithm of a sigmoid",
        message="You compute the sigmoid first and its logarithm afterwards. For −120 the sigmoid is rounded to 0 "
        "and the loss is infinite. Which function of PyTorch computes both in one step?",
        hints=["What is `torch.sigmoid(torch.tensor(-120.0))`?"],
    ),
    Mistake(
        "no_logarithm",
        STEPS.but(log_probability=lambda above_margin: torch.sigmoid(above_margin)),
        summary="you leave out the logarithm",
        message="You average probabilities instead of log-probabilities. The gradient then vanishes for pairs that are "
        "very wrong, where it is needed most. What is missing for a negative log-likelihood?",
        hints=["If the model gives the chosen answer a probability of 0.5, what is −log of it?"],
    ),
    Mistake(
        "difference_alone",
        STEPS.but(log_probability=lambda above_margin: above_margin),
        summary="you average the difference itself",
        message=(
            "You return minus the mean difference, without a sigmoid. That loss has no lower bound, so training "
            "makes the rewards grow forever. What turns a difference into the log-probability of winning?"
        ),
        hints=["How small can your loss become if one pair has a difference of a million?"],
    ),
    Mistake(
        "score_of_the_first_token",
        STEPS.but(reward_chosen=lambda chosen: chosen[:, 0], reward_rejected=lambda rejected: rejected[:, 0]),
        summary="you take the score of the first token",
        message="You take the score of the first token, which has seen nothing of the answer. Which token of an answer "
        "has read all of it?",
        hints=["In a causal model, which position has read the complete answer?"],
    ),
    Mistake(
        "small_number_in_the_logarithm",
        STEPS.but(log_probability=lambda above_margin: torch.log(torch.sigmoid(above_margin) + 1e-8)),
        STEPS.but(log_probability=lambda above_margin: torch.log(torch.sigmoid(above_margin) + 1e-9)),
        STEPS.but(log_probability=lambda above_margin: torch.log(torch.sigmoid(above_margin) + 1e-6)),
        summary="you add a small number inside the logarithm",
        message=(
            "You add a small number to the sigmoid before you take its logarithm. The loss then levels off (near 18 "
            "for 10⁻⁸), and pairs that are very wrong get no gradient. Which function of PyTorch computes log σ in "
            "one step?"
        ),
        hints=["For a difference of −120, the loss should be 120. What is yours?"],
    ),
]

EXERCISE = Exercise(
    reference=reward_model_loss,
    steps=STEPS,
    cases=reward_model_loss_cases,
    points=2,
    stretch=True,
    verified="The reward is the score of the last real token, and the loss stays finite even if the model is very "
    "wrong.",
    hints=[
        "The model scores every token of an answer. Which token has seen the whole answer, and where is it if the "
        "answer is padded?",
        "Bradley–Terry: the probability that the chosen answer wins is σ(reward of chosen − reward of rejected). "
        "The loss is its negative logarithm; the margin asks for a larger difference.",
        "Gather the score in column length − 1 of each row, subtract rejected from chosen, subtract the margin, and "
        "take minus the mean of the log-sigmoid.",
        "`chosen.gather(1, chosen_lengths[:, None] - 1).squeeze(1)` and `F.logsigmoid`.",
    ],
    messages={
        "wrong_input_reward_rejected: chosen_lengths": Wording(
            "{summary}, so you take the score of an earlier token, of padding, or of no token at all. Which lengths "
            "belong to `rejected`?",
            summary="you use `chosen_lengths` for the rejected answers",
        ),
        "wrong_input_reward_chosen: rejected_lengths": Wording(
            "{summary}, so you take the score of an earlier token, of padding, or of no token at all. Which lengths "
            "belong to `chosen`?",
            summary="you use `rejected_lengths` for the chosen answers",
        ),
        "part_left_out_above_margin: difference": Wording(
            "{summary}, so a clear preference demands no more than a narrow one. What should the difference exceed?",
            summary="you never subtract the margin",
        ),
    },
    mistakes=MISTAKES,
)
