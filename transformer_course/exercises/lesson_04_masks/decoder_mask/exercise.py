"""What a decoder may attend to: real tokens, up to itself."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_04_masks.decoder_mask.answer import STEPS, decoder_mask
from transformer_course.exercises.lesson_04_masks.decoder_mask.mistakes import MISTAKES
from transformer_course.exercises.lesson_04_masks.padding_mask.exercise import VOCAB_SIZE, draw_padded
from transformer_course.exercises.shared import mask_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def decoder_mask_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    pad = int(torch.randint(2, VOCAB_SIZE - 1, (), generator=rng))

    def case(pad_id: int, rows: list[tuple[int, int]], length: int, shows: str) -> Case:
        return Case({"tokens": draw_padded(rng, pad_id, rows, length, zero=pad_id != 0), "pad_id": pad_id}, shows)

    return [
        case(0, [(0, 1)], 3, "one sentence of 3 tokens, the last of them padding"),
        case(0, [(0, 0), (0, 1)], 2, "2 sentences, one of them padded"),
        case(0, [(0, 0), (0, 1), (0, 0), (0, 0)], 1, "4 sentences of one token, which may be padding"),
        case(pad, [(0, 0), (0, 2), (0, 1)], 4, "a pad_id that is not 0"),
        case(pad, [(0, 1), (0, 2)], 3, "2 sentences, both of them padded"),
        case(pad, [(2, 0), (0, 1), (0, 7)], 7, "padding in front as well, and a sentence of nothing else"),
        case(pad, [(0, i) for i in torch.randperm(11, generator=rng).tolist()], 13, "11 sentences of 13 tokens"),
    ]


DECODER_MASK = Exercise(
    reference=decoder_mask,
    steps=STEPS,
    cases=decoder_mask_cases,
    points=2,
    verified="A key may be attended to if it is a real token *and* does not come later.",
    hints=[
        "There are both halves: `parts.padding_mask(tokens, pad_id)` and `parts.causal_mask(n)`. What shapes do they "
        "have?",
        "(batch, 1, 1, n) and (n, n) are broadcast together. What comes out?",
        "A key may be attended to if the first says so *and* the second does. For tensors of booleans, `&` means and.",
    ],
    told={
        "inverted_mask": mask_mistakes.INVERTED,
        "call_left_out_not_later: torch.ones(n, n, dtype=torch.bool)": (
            "This is the padding mask alone: every position may attend to the tokens that come later. Look for the "
            "causal mask."
        ),
        "inverted_not_later": (
            "The two halves speak different languages: for padding True means may attend, for the future it "
            "means forbidden. So only the future is visible."
        ),
    },
    mistakes=MISTAKES,
)
