"""What goes wrong when texts get padding, the same tokens are looked up again, and only real ones should count."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.padding_difference.answer import STEPS


def over_the_first_tokens(tokens, n_pads, pad_id):
    """Write the pads over the first tokens of a copy."""
    longer = tokens.clone()
    longer[:, :n_pads] = pad_id
    return longer


def as_many_from_the_left(logits, tokens):
    return logits[:, : tokens.shape[1]]


MISTAKES = [
    Mistake(
        "pads_to_the_right",
        STEPS.but(longer=lambda pads, tokens: torch.cat([tokens, pads], dim=1), padded=as_many_from_the_left),
        STEPS.but(longer=lambda pads, tokens: torch.cat([tokens, pads], dim=1)),
        does="the pads are put to the right of the tokens",
        says=(
            "The pads are put to the *right*. Behind a causal mask no token sees them there, and none has another "
            "position. Look at the order in which the two are put together."
        ),
        hints=["Print the longer texts. Where are the pads?"],
    ),
    Mistake(
        "zeros_as_pads",
        STEPS.but(pads=lambda shape: torch.zeros(shape, dtype=torch.int64)),
        does="the pads are token 0, whatever `pad_id` is",
        says="The pads are token 0, which is a real one where `pad_id` is another. Look at what fills the pads.",
        hints=["In most cases `pad_id` is not 0. Which tokens are put to the left?"],
    ),
    Mistake(
        "pads_of_one_text",
        STEPS.but(shape=lambda n_pads: (1, n_pads)).attempt,
        STEPS.but(shape=lambda n_pads: (n_pads,)).attempt,
        STEPS.but(shape=lambda tokens, n_pads: (n_pads, len(tokens))).attempt,
        says=(
            "The pads do not have the shape that the tokens need: one row for each text, and `n_pads` columns. Look at "
            "the shape that they are made with."
        ),
        hints=[
            "What shape have the tokens, and what shape have the pads?",
            "`torch.cat` along the positions needs as many texts in both.",
            "`torch.full((len(tokens), n_pads), pad_id)`.",
        ],
    ),
    Mistake(
        "pads_over_the_first_tokens",
        STEPS.but(longer=over_the_first_tokens, padded=lambda logits: logits),
        does="the pads replace the first tokens",
        says=(
            "The pads *replace* the first tokens of each text. They should be added: no token may be lost. Look at how "
            "the longer texts are made."
        ),
        hints=["How long is each text before and after?"],
    ),
    Mistake(
        "no_offset",
        STEPS.but(padded=as_many_from_the_left),
        STEPS.but(padded=lambda logits, n_pads: logits[:, :-n_pads]),
        does="the logits of the longer texts are read from the left, where the pads are",
        says=(
            "The logits of the longer texts are read from the left, and there the pads are. So each token is compared "
            "with another position. Look at the slice of the longer run."
        ),
        hints=["Where does the first token stand after 3 pads are put before it?"],
    ),
    Mistake(
        "apart_by_one",
        STEPS.but(padded=lambda logits, n_pads: logits[:, n_pads - 1 : -1]),
        STEPS.but(all_differences=lambda padded, alone: padded[:, 1:] - alone[:, :-1], real=lambda real: real[:, 1:]),
        does="each token is compared with the one beside it",
        says="{does}: the slices of the two runs lie one position apart.",
        hints=["Where does the first token stand after 3 pads are put before it?"],
    ),
    Mistake(
        "only_the_last_position",
        STEPS.but(differences=lambda all_differences: all_differences[:, -1]),
        STEPS.but(differences=lambda all_differences, real: all_differences[:, -1][real[:, -1]]),
        does="only the last position is compared",
        says="{does}. A fault may show at any other, and in some texts this is padding.",
        hints=["Take a text with padding at its end. What is compared?"],
    ),
]
