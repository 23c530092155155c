"""Score the options of multiple-choice questions by their log-probabilities."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def option_scores(
    log_p: Float[Tensor, "n_questions n_options n_tokens"],
    is_option: Bool[Tensor, "n_questions n_options n_tokens"],
    per_token: bool,
) -> Float[Tensor, "n_questions n_options"]:
    """Return the log-probability of each option, divided by its number of tokens if ``per_token`` is set."""
    scores = log_p.masked_fill(~is_option, 0.0).sum(dim=-1)
    return scores / is_option.sum(dim=-1) if per_token else scores


def of_options(log_p, is_option):
    """set the log-probabilities outside the option to 0

    the log-probabilities with 0 outside the option, (n_questions, n_options, n_tokens)

    the masked log-probabilities
    """
    return log_p.masked_fill(~is_option, 0.0)


def log_probability(of_options):
    """sum over the tokens → the log-probability of each option, (n_questions, n_options)"""
    return of_options.sum(dim=-1)


def n_tokens(is_option):
    """count the tokens of each option → the number of tokens of each option, (n_questions, n_options)"""
    return is_option.sum(dim=-1)


def scores(log_probability, n_tokens, per_token):
    """divide by the number of tokens if `per_token` is set

    the scores: the log-probability, per token if `per_token` is set

    the scores
    """
    return log_probability / n_tokens if per_token else log_probability


STEPS = InSteps(of_options, log_probability, n_tokens, scores, reference=option_scores)


def option_scores_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_prompts, n_each, n, per_token, shows):
        """Draw log-probabilities for rows that contain a prompt, an option and padding."""
        log_p = -0.2 - 3 * torch.rand(len(n_prompts), len(n_each[0]), n, generator=rng)
        starts, lengths = torch.tensor(n_prompts)[:, None, None], torch.tensor(n_each)[..., None]
        position = torch.arange(n)
        is_option = (position >= starts) & (position < starts + lengths)
        return Case({"log_p": log_p, "is_option": is_option, "per_token": per_token}, shows)

    lengths = torch.randint(1, 8, (31, 4), generator=rng).tolist()
    prompts = torch.randint(1, 10, (31,), generator=rng).tolist()
    return [
        case([0], [[1, 2]], 2, False, "one question, options of 1 and 2 tokens, sums"),
        case([0], [[1, 2]], 2, True, "one question, options of 1 and 2 tokens, per token"),
        case([2], [[2, 1, 3]], 6, False, "a prompt of 2 tokens, sums"),
        case([2], [[2, 1, 3]], 6, True, "a prompt of 2 tokens, per token"),
        case([3, 1, 4], [[1, 2, 1], [2, 2, 4], [3, 1, 2]], 7, False, "3 questions with prompts of several lengths"),
        case([3, 1, 4], [[1, 2, 1], [2, 2, 4], [3, 1, 2]], 7, True, "3 questions, per token"),
        case([1, 2, 0], [[1, 2, 3]] * 3, 3 + 2, True, "3 questions with 3 options each"),
        case(prompts, lengths, 17, True, "31 questions with 4 options each"),
    ]


MISTAKES = [
    Mistake(
        "divides_by_all_positions",
        STEPS.but(n_tokens=lambda is_option: is_option.shape[-1]),
        summary="you divide by the number of positions in a row, prompt and padding included",
        message=(
            "{summary}. That number is the same for all options, so dividing by it doesn't change which option wins. "
            "How many tokens does each option have?"
        ),
        hints=["Two options of a question have 1 and 2 tokens. By which two numbers should you divide?"],
    ),
    Mistake(
        "probability_instead_of_log",
        STEPS.but(of_options=lambda log_p, is_option: log_p.exp().masked_fill(~is_option, 0.0)),
        summary="you add up probabilities instead of log-probabilities",
        message=(
            "{summary}. The probability of two tokens in a row is the *product* of their probabilities. What does a "
            "product become when you take logarithms?"
        ),
        hints=["Two tokens have the probabilities 0.5 and 0.1. What is the probability of both?"],
    ),
    Mistake(
        "one_length_per_question",
        STEPS.but(n_tokens=lambda is_option: is_option.sum(dim=-1).amax(dim=-1, keepdim=True)),
        STEPS.but(n_tokens=lambda is_option: is_option.sum(dim=(-2, -1), keepdim=True)[..., 0]),
        summary="you divide all options of a question by the same number",
        message=(
            "{summary}, which doesn't change which option wins. Which number makes short and long options comparable?"
        ),
        hints=["Can dividing all four scores of a question by the same number change which of them is the largest?"],
    ),
]


EXERCISE = Exercise(
    reference=option_scores,
    steps=STEPS,
    cases=option_scores_cases,
    points=2,
    verified="You count only the tokens of the option, and per token each option is divided by its own length.",
    hints=[
        "A row holds a prompt, an option and padding. Which of its log-probabilities should count toward the option's "
        "score?",
        "Set the log-probabilities outside the option to 0, and sum over the tokens. The mask also counts the tokens "
        "of each option.",
        "`log_p.masked_fill(~is_option, 0.0)` keeps the option, and `is_option.sum(dim=-1)` is its number of tokens.",
    ],
    messages={
        "call_left_out_of_options": Wording(
            "{summary}, so the score of an option changes with the amount of padding in its row. Which positions "
            "should count?",
            summary="you sum over the whole row, prompt and padding included",
            hints=["Which tokens of the row would be different if the option were a different one?"],
        ),
        "sibling_log_probability: of_options.mean(dim=-1)": Wording(
            "{summary}, so the score of an option changes if its row gets more padding. Which positions should count?",
            summary="you average over all positions of a row instead of summing",
            hints=["What happens to your score of an option if the row gets ten more tokens of padding?"],
        ),
    },
    mistakes=MISTAKES,
)
