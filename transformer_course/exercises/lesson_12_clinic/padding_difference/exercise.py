"""Whether padding changes what a model says of the tokens beside it."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_12_clinic.padding_difference import mistakes
from transformer_course.exercises.lesson_12_clinic.padding_difference.answer import STEPS, padding_difference
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.exercises.shared.eval_mode_mistakes import of_the_mode
from transformer_course.exercises.shared.largest_difference_mistakes import of_the_largest_difference
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model

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


PADDING_DIFFERENCE = Exercise(
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
    told={
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
        *mistakes.MISTAKES,
        *of_the_largest_difference(STEPS, "padded", "alone", (-1,), (0,)),
        *of_the_mode(STEPS, "largest", "alone"),
    ],
)
