"""The decoder's mask, which combines the causal mask and the padding mask."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.lesson_04_masks.padding_mask import VOCAB_SIZE, draw_padded, real
from transformer_course.exercises.shared import mask_mistakes, padding_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def decoder_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 n n"]:
    """Let every position attend to the real tokens up to and including its own position."""
    n = tokens.shape[1]
    real = (tokens != pad_id)[:, None, None, :]  # real keys: (batch, 1, 1, n)
    not_later = torch.ones(n, n, dtype=torch.bool, device=tokens.device).tril()  # (n, n)
    return real & not_later


def keys(real):
    """add dimensions for heads and queries → the real keys: (batch, 1, 1, n)"""
    return real[:, None, None, :]


def n(tokens):
    """count the tokens of a sentence → the number of tokens: the size of dim 1"""
    return tokens.shape[1]


def diagonal():
    """choose the last diagonal to keep → the last diagonal to keep: 0, the main diagonal"""
    return 0


def not_later(n, diagonal):
    """create the causal mask → the causal mask: the lower triangle of an n × n matrix"""
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


def sign():
    """choose the operator that combines the two masks → the operator: `&`, the logical *and*"""
    return torch.logical_and


def both(keys, not_later, sign):
    """combine the two masks → the combined mask: real keys that don't come later, (batch, 1, n, n)"""
    return sign(keys, not_later)


def mask(both):
    """return a boolean mask → the mask: boolean values, (batch, 1, n, n)"""
    return both


STEPS = InSteps(real, keys, n, diagonal, not_later, sign, both, mask, reference=decoder_mask)


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
        case(pad, [(2, 0), (0, 1), (0, 7)], 7, "padding in front as well, and a sentence of padding alone"),
        case(pad, [(0, i) for i in torch.randperm(11, generator=rng).tolist()], 13, "11 sentences of 13 tokens"),
    ]


MISTAKES = [
    Mistake(
        "either_will_do",
        STEPS.but(sign=lambda: torch.logical_or),
        summary="you combine the two masks with *or* instead of *and*",
        message=(
            "You combine the two masks with *or*, so you allow real tokens in the future and padding in the past. "
            "Which operation requires both conditions?"
        ),
        hints=["In the first sentence, which keys may the first position attend to? Which keys does your mask allow?"],
    ),
    Mistake(
        "padding_forgotten",
        STEPS.but(keys=lambda keys: torch.ones_like(keys)),
        STEPS.but(both=lambda not_later: not_later[None, None]),
        summary="you don't hide padding",
        message=(
            "Your mask is only the causal mask: `pad_id` has no effect, so queries can attend to padding. Which mask "
            "is missing?"
        ),
        hints=["For a sentence that ends in padding, what should the last column of the mask be?"],
    ),
    Mistake(
        "tokens_for_their_number",
        STEPS.but(n=lambda tokens: tokens),
        summary="you pass the tokens themselves instead of the number of tokens",
        message="{summary}, so your code crashes. Which arguments does `causal_mask` take?",
        hints=["Print what you pass to `causal_mask`. What does its signature ask for?"],
    ),
    Mistake(
        "padded_queries_hidden_too",
        STEPS.but(keys=lambda real: real[:, None, :, None] & real[:, None, None, :]),
        summary="you hide the rows of padding as well as its columns",
        message=(
            "{summary}, so a query at a padding position attends to nothing, and its softmax is nan. You should hide "
            "only the *keys* at padding positions. Which condition should you leave out?"
        ),
        hints=["If the last token is padding, what should the last row of the mask be? What is yours?"],
    ),
    *padding_mistakes.which_tokens(STEPS),
]


EXERCISE = Exercise(
    reference=decoder_mask,
    steps=STEPS,
    cases=decoder_mask_cases,
    points=2,
    verified="A key may be attended to if it is a real token *and* doesn't come later.",
    hints=[
        "You have written both halves: `parts.padding_mask(tokens, pad_id)` and `parts.causal_mask(n)`. What shapes "
        "do they have?",
        "(batch, 1, 1, n) and (n, n) broadcast together. What shape do they give?",
        "A key may be attended to if the first mask *and* the second mask allow it. For boolean tensors, `&` is the "
        "logical *and*.",
    ],
    messages={
        "number_diagonal: 1": mask_mistakes.THE_NEXT_TOO,
        "number_diagonal: -1": mask_mistakes.NOT_ITSELF,
        "transposed_mask": Wording(
            "{summary}: each position can attend only to itself and to positions *after* it, and padding is hidden as "
            "a query instead of as a key. Should a row of your mask belong to a query or to a key?",
            summary="your mask is transposed",
            hints=["For 3 real tokens, what should the first row of the mask be? What is yours?"],
        ),
        "additive_mask": mask_mistakes.ADDED_TO_THE_SCORES,
        "slice_keys: real[:, None, :, None]": mask_mistakes.PADDED_ROWS,
        "comparison_real: (tokens) == (pad_id)": mask_mistakes.PADDING_ALLOWED,
        "ignored_pad_id: 0": mask_mistakes.PAD_ID_UNUSED,
        "sibling_not_later": Wording(
            "Your mask is the wrong triangle: each position can attend only to itself and to positions *after* it. Are "
            "the queries the rows or the columns of the mask?",
            summary="you allow each position the later positions instead of the earlier ones",
            hints=["For 3 real tokens, what should the first row of the mask be? What is yours?"],
        ),
        "inverted_mask": mask_mistakes.INVERTED,
        "call_left_out_not_later: torch.ones(n, n, dtype=torch.bool)": Wording(
            "Your mask is only the padding mask, so every position can attend to later tokens. Which mask is missing?",
            summary="you don't hide later tokens",
            hints=["For 3 real tokens, what should the first row of the mask be? What is yours?"],
        ),
        "inverted_not_later": Wording(
            "Your two masks use opposite conventions: for padding, True means *may attend*; for later tokens, it means "
            "*blocked*. Combined, they allow only later tokens. What should True mean in both masks?",
            summary="you invert the causal mask",
            hints=["What does True mean in each of your two masks?"],
        ),
    },
    mistakes=MISTAKES,
)
