"""What goes wrong with the temperature and the softmax."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.sample_next.answer import STEPS

SOFTMAX = "`logits.softmax(dim=-1)`, at the very end."

MISTAKES = [
    Mistake(
        "multiplies_by_the_temperature",
        STEPS.but(scaled=lambda logits, temperature: logits * temperature),
        does="the logits are multiplied by the temperature",
    ),
    Mistake(
        "no_temperature",
        STEPS.but(scaled=lambda logits: logits),
        STEPS.but(scaled=lambda logits, temperature: logits - temperature).attempt,
        STEPS.but(scaled=lambda logits, temperature: logits + temperature).attempt,
        does="the temperature has no effect",
    ),
    Mistake(
        "temperature_at_the_end",
        STEPS.but(
            scaled=lambda logits: logits,
            probabilities=lambda nucleus, temperature: (nucleus / temperature).softmax(-1),
        ),
        does="the temperature comes after top-p, not before",
    ),
    Mistake(
        "temperature_after_the_softmax",
        STEPS.but(
            probabilities=lambda nucleus, logits: logits.masked_fill(nucleus == -math.inf, -math.inf).softmax(-1)
        ),
        does="the temperature decides what top-p keeps, and the rest is drawn without it",
    ),
    Mistake(
        "softmax_twice",
        STEPS.but(logits=lambda logits: logits.softmax(dim=-1)),
        STEPS.but(scaled=lambda scaled: scaled.softmax(dim=-1)).attempt,
        STEPS.but(probabilities=lambda probabilities: probabilities.softmax(dim=-1)),
        does="a softmax is taken of probabilities",
        says=(
            "A softmax is taken of what are probabilities already. That makes all tokens nearly equally likely, also "
            "those with a probability of 0."
        ),
        hints=["What is the softmax of 1, 0, 0?"],
    ),
    Mistake(
        "no_softmax",
        STEPS.but(probabilities=lambda nucleus: nucleus).attempt,
        does="the tokens are drawn from logits, with no softmax",
        says="`torch.multinomial` gets logits. It takes probabilities, and refuses negative numbers.",
        hints=[
            "Can a logit be negative? And a probability?",
            "What turns logits into probabilities?",
            SOFTMAX,
        ],
    ),
    Mistake(
        "softmax_over_the_batch",
        STEPS.but(probabilities=lambda nucleus: nucleus.softmax(dim=0)).attempt,
        does="the last softmax runs over the batch",
        says="The softmax runs over the batch: for each token the texts compete. The tokens of each text should.",
        hints=[
            "Which axis of the logits is the vocabulary?",
            "Which one is `dim=0`?",
            SOFTMAX,
        ],
    ),
    Mistake(
        "exponentials_overflow",
        STEPS.but(probabilities=lambda nucleus: nucleus.exp()),
        STEPS.but(probabilities=lambda nucleus: nucleus.exp() / nucleus.exp().sum(dim=-1, keepdim=True)).attempt,
        does="`exp` is taken of the logits as they are, which overflows at a low temperature",
        says=(
            "`exp` is taken of the logits as they are. At a low temperature they are large, and the exponentials "
            "infinite, or all 0."
        ),
        hints=["What is `torch.tensor(2.0 / 0.001).exp()`? And with −2?"],
    ),
    Mistake(
        "equally_likely",
        STEPS.but(probabilities=lambda nucleus: (nucleus > -torch.inf).float()).attempt,
        STEPS.but(probabilities=lambda probabilities: (probabilities > 0).float()).attempt,
        does="all tokens that are kept are equally likely",
        says="{does}. The likelier of them should come more often.",
        hints=[
            "How often should a token of probability 0.6 come out, and one of 0.1?",
            "The logits of what is kept still count.",
            SOFTMAX,
        ],
    ),
]
