"""What goes wrong when texts get padding, and the same tokens are looked up again."""

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
        "pads_on_both_sides",
        STEPS.but(
            longer=lambda pads, tokens: torch.cat([pads, tokens, pads], dim=1),
            padded=lambda logits, n_pads: logits[:, n_pads:-n_pads],
        ),
        does="pads are put on both sides of the tokens",
        says="The pads are put on *both* sides of the tokens. They should stand on the left alone.",
        hints=["Print the longer texts. Where are pads?"],
    ),
    Mistake(
        "zeros_as_pads",
        STEPS.but(pads=lambda shape: torch.zeros(shape, dtype=torch.int64)),
        does="the pads are token 0, whatever `pad_id` is",
        says="The pads are token 0, which is a real one where `pad_id` is another. Look at what fills the pads.",
        hints=["In most cases `pad_id` is not 0. Which tokens are put to the left?"],
    ),
    Mistake(
        "ones_as_pads",
        STEPS.but(pads=lambda shape: torch.ones(shape, dtype=torch.int64)),
        does="the pads are token 1, whatever `pad_id` is",
        says="The pads are token 1, which is a real one where `pad_id` is another. Look at what fills the pads.",
        hints=["In most cases `pad_id` is not 1. Which tokens are put to the left?"],
    ),
    Mistake(
        "a_real_token_as_pads",
        STEPS.but(pads=lambda tokens, n_pads: tokens[:, :1].expand(-1, n_pads)),
        STEPS.but(pads=lambda shape, n_pads: torch.full(shape, n_pads).clamp(max=6)).attempt,
        does="the pads are other tokens than those of padding",
        says="Other tokens than padding are put to the left. Look at what fills the pads.",
        hints=["Print the longer texts. Which ids do they begin with?"],
    ),
    Mistake(
        "another_number_of_pads",
        STEPS.but(n_pads=lambda: 1),
        STEPS.but(n_pads=lambda n_pads: n_pads + 1),
        STEPS.but(n_pads=lambda tokens: tokens.shape[1]),
        does="another number of pads than `n_pads` is added",
        says="Another number of pads is added than is asked for. Look at where `n_pads` goes in.",
        hints=["For n_pads = 3, how many tokens has each text more than before?"],
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
        "pads_as_further_texts",
        STEPS.but(longer=lambda pads, tokens: torch.cat([pads, tokens])).attempt,
        STEPS.but(longer=lambda pads, tokens: torch.cat([pads, tokens], dim=0)).attempt,
        says="The pads are joined along the axis of the texts. They should stand beside the tokens of each text.",
        hints=[
            "Along which axis does `torch.cat` join where it is told nothing?",
            "`tokens` has the shape (batch, n).",
            "`torch.cat([pads, tokens], dim=1)`.",
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
        "nothing_cut_off",
        STEPS.but(padded=lambda logits: logits).attempt,
        says=(
            "The longer run has logits at the new pads as well, and they are not cut off: the two tensors are not of "
            "the same length. Look at their shapes."
        ),
        hints=[
            "How many positions has each of the two runs?",
            "The logits at the new pads have nothing to be compared with.",
            "`[:, n_pads:]` of the longer run.",
        ],
    ),
    Mistake(
        "without_any_pads",
        STEPS.but(padded=lambda alone: alone),
        STEPS.but(longer=lambda tokens: tokens, padded=lambda logits: logits),
        does="both runs are made without the new pads",
        says="It is 0 for every model: both runs are made on the same tokens. Look at what the model is called with.",
        hints=["Print what the model is called with, both times."],
    ),
]
