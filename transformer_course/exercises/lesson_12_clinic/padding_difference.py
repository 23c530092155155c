"""Measure whether padding changes the logits of real tokens."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.exercises.shared.eval_mode import evaluating, of_the_mode, was_training
from transformer_course.exercises.shared.largest_difference import answer, largest, of_the_largest_difference, sizes
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def padding_difference(model: nn.Module, tokens: Int[Tensor, "batch n"], pad_id: int, n_pads: int) -> float:
    """Return the largest change in the logits at real tokens when every text is padded on the left."""
    was_training = model.training
    model.eval()
    pads = torch.full((len(tokens), n_pads), pad_id)
    with torch.no_grad():
        alone, padded = model(tokens), model(torch.cat([pads, tokens], dim=1))
    model.train(was_training)
    return (padded[:, n_pads:] - alone)[tokens != pad_id].abs().max().item()


def alone(evaluating, tokens):
    """run the model on the tokens alone → the logits without padding"""
    return evaluating(tokens)


def shape(tokens, n_pads):
    """use `n_pads` pads for each text → the shape of the pads: (batch, n_pads)"""
    return len(tokens), n_pads


def pads(shape, pad_id):
    """fill the pads with `pad_id` → the pads: n_pads copies of `pad_id` for each text"""
    return torch.full(shape, pad_id)


def longer(pads, tokens):
    """put the pads to the left of the tokens → the padded texts: pads, then tokens"""
    return torch.cat([pads, tokens], dim=1)


def logits(evaluating, longer):
    """run the model on the padded texts → the logits of the padded texts, (batch, n_pads + n, vocab_size)"""
    return evaluating(longer)


def padded(logits, n_pads):
    """drop the logits at the new pads → the logits with padding, (batch, n, vocab_size)"""
    return logits[:, n_pads:]


def real(tokens, pad_id):
    """find the real tokens → the mask of real tokens: True where a token is not padding"""
    return tokens != pad_id


def all_differences(alone, padded):
    """subtract the logits without padding → the differences at every position, (batch, n, vocab_size)"""
    return padded - alone


def differences(all_differences, real):
    """select the differences at real tokens → the differences at real tokens"""
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
        """Return a case whose model handles padding in a given way.

        ``pads`` contains the numbers of pads on the left and right of each text. If ``sign`` is not 0, attending to
        padding flips the sign of all logits.
        """
        pad = int(torch.randint(1, VOCAB_SIZE, (), generator=rng)) if pad_id is None else pad_id
        tokens = (pad + torch.randint(1, VOCAB_SIZE, (len(pads), n), generator=rng)) % VOCAB_SIZE
        for text, (left, right) in zip(tokens, pads, strict=True):
            text[:left], text[n - right :] = pad, pad
        # The sums of multiples of 1/64 are exact, so a correct model has a difference of exactly 0.
        embedding = (64 * normal(rng, VOCAB_SIZE, VOCAB_SIZE)).round() / 64
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
        case(2, 1, "one pad that the model attends to", hears=1.0, sign=-1.0),
        case(2, 1, "one pad that is counted in the positions", counts=True),
        case(3, 2, "padding of id 0 that the model attends to", hears=0.5, pad_id=0, sign=1.0),
        case(3, 2, "a correct model in training mode", pads=((0, 0), (0, 0)), gain_in_training=gain),
        case(4, 3, "a correct model, and texts with padding of id 0", pads=((2, 0), (0, 0), (1, 0)), pad_id=0),
        case(4, 2, "a model in training mode", counts=True, gain_in_training=gain),
        case(4, 2, "a model in eval mode", hears=0.7, gain_in_training=gain, evaluates=torch.tensor(True)),
        case(5, 3, "texts with padding that the model attends to", pads=((1, 0), (0, 2)), hears=0.3),
        case(5, 3, "outputs of nan at padding", pads=((2, 0), (0, 0)), counts=True, at_padding=float("nan")),
        case(6, 1, "texts with padding that is counted in the positions", pads=((0, 3), (2, 0), (0, 0)), counts=True),
        case(9, 7, "4 texts of 9 tokens", pads=((0, 0), (4, 0), (0, 1), (3, 3)), hears=0.2, counts=True),
    ]


def over_the_first_tokens(tokens, n_pads, pad_id):
    """Overwrite the first tokens of a copy with padding."""
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
        summary="you put the pads to the right of the tokens",
        message=(
            "{summary}. On that side, a causal mask hides the pads and no token's position changes, so you can't find "
            "the errors that padding on the left causes."
        ),
        hints=["Print the padded texts. On which side are the pads?"],
    ),
    Mistake(
        "zeros_as_pads",
        STEPS.but(pads=lambda shape: torch.zeros(shape, dtype=torch.int64)),
        summary="you pad with token 0, whatever `pad_id` is",
        message=(
            "{summary}. If `pad_id` is 3, token 0 is a real token, so even a correct model attends to it. Which token "
            "should fill the pads?"
        ),
        hints=["If `pad_id` is 3, which tokens should you put on the left, and which tokens do you put there?"],
    ),
    Mistake(
        "pads_of_one_text",
        STEPS.but(shape=lambda n_pads: (1, n_pads)).attempt,
        STEPS.but(shape=lambda n_pads: (n_pads,)).attempt,
        STEPS.but(shape=lambda tokens, n_pads: (n_pads, len(tokens))).attempt,
        message=(
            "Your pads have the wrong shape, so `torch.cat` can't join them with the tokens. For 4 sequences and 3 "
            "pads each, which shape should the pads have?"
        ),
        hints=[
            "Which shape do your pads have, and which shape do the tokens have?",
            "`torch.cat` along dim 1 needs the same number of rows in both tensors.",
            "`torch.full((len(tokens), n_pads), pad_id)`.",
        ],
    ),
    Mistake(
        "pads_over_the_first_tokens",
        STEPS.but(longer=over_the_first_tokens, padded=lambda logits: logits),
        summary="your pads replace the first tokens",
        message=(
            "Your pads *replace* the first tokens of each sequence, so you compare the logits of two different "
            "sequences. How long should the padded sequences be?"
        ),
        hints=["How long is each sequence before and after you add the pads?"],
    ),
    Mistake(
        "no_offset",
        STEPS.but(padded=as_many_from_the_left),
        STEPS.but(padded=lambda logits, n_pads: logits[:, :-n_pads]),
        summary="you take the first logits of the padded sequences, where the pads are",
        message=(
            "{summary}, so you compare the logits of each token with the logits at another position. Where should your "
            "slice start?"
        ),
        hints=["After you put 3 pads in front of a sequence, at which index is its first token?"],
    ),
    Mistake(
        "apart_by_one",
        STEPS.but(padded=lambda logits, n_pads: logits[:, n_pads - 1 : -1]),
        STEPS.but(all_differences=lambda padded, alone: padded[:, 1:] - alone[:, :-1], real=lambda real: real[:, 1:]),
        summary="you compare each token's logits with its neighbor's logits",
        message=(
            "{summary}, because one of your slices is off by one. Where should the slice of the padded logits start?"
        ),
        hints=["After you put 3 pads in front of a sequence, at which index is its first token?"],
    ),
    Mistake(
        "only_the_last_position",
        STEPS.but(differences=lambda all_differences: all_differences[:, -1]),
        STEPS.but(differences=lambda all_differences, real: all_differences[:, -1][real[:, -1]]),
        summary="you compare only the last position",
        message=(
            "{summary}, so you miss errors at earlier positions. In some sequences, the last token is even padding. "
            "Which positions should you compare?"
        ),
        hints=["If a sequence has padding at its end, which logits do you compare?"],
    ),
]


EXERCISE = Exercise(
    reference=padding_difference,
    steps=STEPS,
    cases=padding_difference_cases,
    points=3,
    verified="You run the same tokens with and without padding, and compare the logits at real tokens only.",
    hints=[
        "You put 3 pads on the left of a sequence of 4 tokens. Which logits of the padded sequence should equal the "
        "logits without padding?",
        "Run the model twice, on the tokens alone and with `n_pads` pads on the left of each sequence. Compare only "
        "real tokens: the logits at padding are never used, so they may be anything.",
        "`torch.full((len(tokens), n_pads), pad_id)` makes the pads, and `torch.cat([pads, tokens], dim=1)` puts them "
        "on the left. You can index logits with the mask `tokens != pad_id`.",
        "`(padded[:, n_pads:] - alone)[tokens != pad_id].abs().max().item()`. Run the model in eval mode, and restore "
        "its mode at the end.",
    ],
    messages={
        "axis_longer: torch.cat([pads, tokens], dim=0)": Wording(
            "{summary}, so the pads become additional sequences. Which `dim` runs along the tokens of a sequence?",
            summary="you concatenate pads and tokens along dim 0",
        ),
        "left_out_padded: logits": Wording(
            "{summary}, so these logits have `n_pads` more positions than the logits without padding. Which positions "
            "should you keep?",
            summary="you don't cut off the logits at the new pads",
        ),
        "wrong_input_all_differences": Wording(
            "Your result is 0 for every model, because you compare two outputs for the same tokens. Which two outputs "
            "should you subtract?",
            summary="you compare two runs on the same tokens",
        ),
        "left_out_differences: all_differences": Wording(
            "{summary}. Those logits are never used, so they may change even in a correct model. Which positions "
            "should count?",
            summary="you also compare the logits at padding",
            hints=["A sequence already begins with 2 pads. Does it matter what the model returns for them?"],
        ),
        "comparison_real": Wording(
            "{summary}, so you miss every error at a real token. For which tokens should your mask be True?",
            summary="you compare the logits at padding instead of the logits at real tokens",
        ),
    },
    mistakes=[
        *MISTAKES,
        *of_the_largest_difference(STEPS, "padded", "alone", (-1,), (0,)),
        *of_the_mode(STEPS, "largest", "alone"),
    ],
)
