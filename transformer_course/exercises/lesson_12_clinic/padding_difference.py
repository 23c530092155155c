"""Whether padding changes what a model says of the tokens beside it."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.exercises.shared.eval_mode import evaluating, of_the_mode, was_training
from transformer_course.exercises.shared.largest_difference import answer, largest, of_the_largest_difference, sizes
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def padding_difference(model: nn.Module, tokens: Int[Tensor, "batch n"], pad_id: int, n_pads: int) -> float:
    """Return by how much the logits at real tokens change at most when every text gets padding on its left."""
    was_training = model.training
    model.eval()
    pads = torch.full((len(tokens), n_pads), pad_id)
    with torch.no_grad():
        alone, padded = model(tokens), model(torch.cat([pads, tokens], dim=1))
    model.train(was_training)
    return (padded[:, n_pads:] - alone)[tokens != pad_id].abs().max().item()


def alone(evaluating, tokens):
    """run it on the tokens as they are → the logits of the tokens as they are"""
    return evaluating(tokens)


def shape(tokens, n_pads):
    """make room for the pads of each text → the shape of the pads: (batch, n_pads)"""
    return len(tokens), n_pads


def pads(shape, pad_id):
    """fill it with the id of padding → the pads: the id of padding, n_pads times for each text"""
    return torch.full(shape, pad_id)


def longer(pads, tokens):
    """put the pads to the left of the tokens → the longer texts: pads, then tokens"""
    return torch.cat([pads, tokens], dim=1)


def logits(evaluating, longer):
    """run it on the longer texts → the logits of the longer texts, (batch, n_pads + n, vocab_size)"""
    return evaluating(longer)


def padded(logits, n_pads):
    """drop the logits at the new pads → the logits of the same tokens in the longer texts, (batch, n, vocab_size)"""
    return logits[:, n_pads:]


def real(tokens, pad_id):
    """find the real tokens → which tokens are real: those that are not the padding"""
    return tokens != pad_id


def all_differences(alone, padded):
    """subtract the logits of one from those of the other → the differences at every position, (batch, n, vocab_size)"""
    return padded - alone


def differences(all_differences, real):
    """take those at real tokens → the differences at real tokens"""
    return all_differences[real]


STEPS = InSteps(
    was_training, evaluating, alone, shape, pads, longer, logits, padded, real, all_differences, differences, sizes,
    largest, answer, reference=padding_difference
)  # fmt: skip


VOCAB_SIZE, N_PLACES = 7, 20


def padding_difference_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        n: int,
        n_pads: int,
        shows: str,
        *,
        pads: tuple[tuple[int, int], ...] = ((0, 0),),
        pad_id: int | None = None,
        hears: float = 0.0,
        counts: bool = False,
        at_padding: float = 3.0,
        sign: float = 0.0,
        **tables: Tensor,
    ) -> Case:
        """Describe a model by what it does to padding, and texts by the number of pads on their left and right.

        If there is a sign, the logits have the other one until padding is attended to, which turns it in all of them.
        """
        pad = int(torch.randint(1, VOCAB_SIZE, (), generator=rng)) if pad_id is None else pad_id
        tokens = (pad + torch.randint(1, VOCAB_SIZE, (len(pads), n), generator=rng)) % VOCAB_SIZE
        for text, (left, right) in zip(tokens, pads, strict=True):
            text[:left], text[n - right :] = pad, pad
        embedding = normal(rng, VOCAB_SIZE, VOCAB_SIZE)
        if sign:
            embedding = -sign * (0.2 + embedding.abs().clamp(max=1.0))
            embedding[pad] += 10 * sign
        model = describe_model(
            "padded_reader",
            embedding=embedding,
            places=0.5 + normal(rng, N_PLACES, VOCAB_SIZE).abs(),
            pad_id=torch.tensor(pad),
            hears_padding=torch.tensor(hears),
            counts_padding=torch.tensor(counts),
            at_padding=torch.tensor(at_padding),
            **tables,
        )
        return Case({"model": model, "tokens": tokens, "pad_id": pad, "n_pads": n_pads}, shows)

    gain = torch.tensor(uniform(rng, 1.2, 1.6))
    return [
        case(2, 1, "one pad, which is attended to", hears=1.0, sign=-1.0),
        case(2, 1, "one pad, which counts as a position", counts=True),
        case(3, 2, "padding of id 0, which is attended to", hears=0.5, pad_id=0, sign=1.0),
        case(3, 2, "a healthy model in training mode", pads=((0, 0), (0, 0)), gain_in_training=gain),
        case(4, 3, "a healthy model, and texts with padding of id 0", pads=((2, 0), (0, 0), (1, 0)), pad_id=0),
        case(4, 2, "a model that comes in training mode", counts=True, gain_in_training=gain),
        case(4, 2, "a model in eval mode", hears=0.7, gain_in_training=gain, evaluates=torch.tensor(True)),
        case(5, 3, "texts with padding, which is attended to", pads=((1, 0), (0, 2)), hears=0.3),
        case(5, 3, "outputs of nan at padding", pads=((2, 0), (0, 0)), counts=True, at_padding=float("nan")),
        case(6, 1, "texts with padding, which counts as a position", pads=((0, 3), (2, 0), (0, 0)), counts=True),
        case(9, 7, "4 texts of 9 tokens", pads=((0, 0), (4, 0), (0, 1), (3, 3)), hears=0.2, counts=True),
    ]


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
        summary="the pads are put to the right of the tokens",
        message=(
            "The pads are put to the *right*. Behind a causal mask no token sees them there, and none has another "
            "position. Look at the order in which the two are put together."
        ),
        hints=["Print the longer texts. Where are the pads?"],
    ),
    Mistake(
        "zeros_as_pads",
        STEPS.but(pads=lambda shape: torch.zeros(shape, dtype=torch.int64)),
        summary="the pads are token 0, whatever `pad_id` is",
        message="The pads are token 0, which is a real one where `pad_id` is another. Look at what fills the pads.",
        hints=["In most cases `pad_id` is not 0. Which tokens are put to the left?"],
    ),
    Mistake(
        "pads_of_one_text",
        STEPS.but(shape=lambda n_pads: (1, n_pads)).attempt,
        STEPS.but(shape=lambda n_pads: (n_pads,)).attempt,
        STEPS.but(shape=lambda tokens, n_pads: (n_pads, len(tokens))).attempt,
        message=(
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
        summary="the pads replace the first tokens",
        message=(
            "The pads *replace* the first tokens of each text. They should be added: no token may be lost. Look at how "
            "the longer texts are made."
        ),
        hints=["How long is each text before and after?"],
    ),
    Mistake(
        "no_offset",
        STEPS.but(padded=as_many_from_the_left),
        STEPS.but(padded=lambda logits, n_pads: logits[:, :-n_pads]),
        summary="the logits of the longer texts are read from the left, where the pads are",
        message=(
            "The logits of the longer texts are read from the left, and there the pads are. So each token is compared "
            "with another position. Look at the slice of the longer run."
        ),
        hints=["Where does the first token stand after 3 pads are put before it?"],
    ),
    Mistake(
        "apart_by_one",
        STEPS.but(padded=lambda logits, n_pads: logits[:, n_pads - 1 : -1]),
        STEPS.but(all_differences=lambda padded, alone: padded[:, 1:] - alone[:, :-1], real=lambda real: real[:, 1:]),
        summary="each token is compared with the one beside it",
        message="{summary}: the slices of the two runs lie one position apart.",
        hints=["Where does the first token stand after 3 pads are put before it?"],
    ),
    Mistake(
        "only_the_last_position",
        STEPS.but(differences=lambda all_differences: all_differences[:, -1]),
        STEPS.but(differences=lambda all_differences, real: all_differences[:, -1][real[:, -1]]),
        summary="only the last position is compared",
        message="{summary}. A fault may show at any other, and in some texts this is padding.",
        hints=["Take a text with padding at its end. What is compared?"],
    ),
]


EXERCISE = Exercise(
    reference=padding_difference,
    steps=STEPS,
    cases=padding_difference_cases,
    points=3,
    verified="The same tokens with padding and without, compared at the real tokens and nowhere else.",
    hints=[
        "Run the model twice: on the tokens, and on the same tokens with `n_pads` pads to the left of each text.",
        "`torch.full((len(tokens), n_pads), pad_id)` are the pads, and `torch.cat([pads, tokens], dim=1)` puts them to "
        "the left. Where do the logits of the first token stand then?",
        "What a model says at padding is never used, so it may be anything. `tokens != pad_id` tells which positions "
        "are real, and a tensor of logits can be indexed by it.",
        "`(padded[:, n_pads:] - alone)[tokens != pad_id].abs().max().item()`, with the model in eval mode, and set "
        "back to its mode at the end.",
    ],
    messages={
        "axis_longer: torch.cat([pads, tokens], dim=0)": (
            "The pads are joined along the axis of the texts. They should stand beside the tokens of each text."
        ),
        "left_out_padded: logits": (
            "The longer run has logits at the new pads as well, and they are not cut off: the two tensors are "
            "not of the same length. Look at their shapes."
        ),
        "wrong_input_all_differences": (
            "It is 0 for every model: both runs are made on the same tokens. Look at what the model is called with."
        ),
    },
    mistakes=[
        *MISTAKES,
        *of_the_largest_difference(STEPS, "padded", "alone", (-1,), (0,)),
        *of_the_mode(STEPS, "largest", "alone"),
    ],
)
