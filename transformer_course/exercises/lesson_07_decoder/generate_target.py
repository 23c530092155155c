"""The autoregressive loop of an encoder-decoder: read the tokens generated so far and append a token."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import generation_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.generation_steps import logits, next_logits, output, shown
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def generate_target(
    model: nn.Module,
    source: Int[Tensor, "batch n_source"],
    bos_id: int,
    n_tokens: int,
    choose: Callable[[Float[Tensor, "batch vocab_size"]], Int[Tensor, " batch"]],
) -> Int[Tensor, "batch n_tokens"]:
    """Generate n_tokens tokens for each source, without bos; ``choose`` picks each token from logits."""
    target = torch.full((len(source), 1), bos_id)
    for _ in range(n_tokens):
        logits = model(source, target)  # (batch, tokens so far, vocab_size)
        new = choose(logits[:, -1])
        target = torch.cat([target, new[:, None]], dim=1)
    return target[:, 1:]


def start(source, bos_id):
    """start every target with bos → the initial target: a column of bos"""
    return torch.full((len(source), 1), bos_id)


def new_tokens(choose):
    """choose the next token of each target → the new tokens, (batch,)"""
    return lambda next_logits: choose(next_logits)


def extended():
    """append the new tokens as a column → the extended target: one column longer"""
    return lambda target, new_tokens: torch.cat([target, new_tokens[:, None]], dim=1)


def n_rounds(n_tokens):
    """repeat n_tokens times → the number of iterations"""
    return n_tokens


def written(start, shown, logits, next_logits, new_tokens, extended, n_rounds):
    """run the loop → the target after the loop: bos and the generated tokens"""
    target = start
    for _ in range(n_rounds):
        target = extended(target, new_tokens(next_logits(logits(shown(target)))))
    return target


STEPS = InSteps(
    start, shown, logits, next_logits, new_tokens, extended, n_rounds, written, output, reference=generate_target
)


VOCAB_SIZE = 13
N_PLACES = 11
"""Maximum number of target tokens for the models in the cases."""


def generate_target_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n_source, n_tokens, shows, *, noise_scale=0.5, always=None):
        """Draw sources and a model whose next token depends on the source, the newest token and the position.

        The chosen token depends on the values of the logits, not only on their order. If ``always`` is given, that
        token is always chosen.
        """
        tables = {"transition": (VOCAB_SIZE, VOCAB_SIZE), "reading": (VOCAB_SIZE, VOCAB_SIZE)}
        tables |= {"places": (N_PLACES, VOCAB_SIZE)}
        model = describe_model("table_translator", **{name: normal(rng, *shape) for name, shape in tables.items()})
        noise = noise_scale * normal(rng, VOCAB_SIZE)
        if always is not None:
            noise[always] = 1000.0
        source = torch.randint(1, VOCAB_SIZE, (batch, n_source), generator=rng)
        inputs = {
            "model": model,
            "source": source,
            "bos_id": int(torch.randint(1, VOCAB_SIZE, (), generator=rng)),
            "n_tokens": n_tokens,
            "choose": describe_model("fixed_noise_sampler", noise=noise),
        }
        return Case(inputs, shows)

    return [
        case(1, 2, 1, "one new token"),
        case(1, 3, 4, "one source, 4 new tokens"),
        case(2, 1, 0, "no new token"),
        case(2, 5, 3, "2 sources, 3 new tokens"),
        case(3, 3, 3, "3 sources of 3 tokens, 3 new tokens"),
        case(2, 3, 5, "token 0 in every iteration", always=0),
        case(2, 4, 6, "a `choose` that rarely takes the likeliest token", noise_scale=4.0),
        case(5, 7, 10, "5 sources, 10 new tokens"),
    ]


MISTAKES = [
    generation_mistakes.newest_token_only(STEPS),
    Mistake(
        "chooses_after_bos_only",
        STEPS.but(shown=lambda start: lambda target: start),
        # equivalent, because no position attends to later positions
        STEPS.but(next_logits=lambda: lambda logits: logits[:, 0]),
        summary="you choose every token from the logits at bos, the first position",
        message=(
            "{summary}, so no token depends on the tokens generated before it. Which position of the target predicts "
            "the next token?"
        ),
        hints=[
            "The target is bos, 5, 8. What should you pass to the model, and which position predicts the token after 8?"
        ],
    ),
    Mistake(
        "chooses_for_all_positions",
        STEPS.but(
            next_logits=lambda: lambda logits: logits,
            new_tokens=lambda choose: lambda logits: torch.stack([choose(x) for x in logits.unbind(1)], 1),
            extended=lambda: lambda target, new_tokens: torch.cat([target[:, :1], new_tokens], dim=1),
        ),
        STEPS.but(
            next_logits=lambda: lambda logits: logits,
            new_tokens=lambda choose: lambda logits: torch.stack([choose(x) for x in logits.unbind(1)], 1),
            extended=lambda: lambda target, new_tokens: torch.cat([target, new_tokens], dim=1),
            output=lambda written, n_tokens: written[:, 1:][:, :n_tokens],
        ),
        summary="you choose a token at every position instead of only at the last one",
        message=(
            "{summary}. The earlier positions predict tokens that you have already generated. How many tokens should "
            "you append to each row in one iteration?"
        ),
        hints=["With 2 sources, how many tokens should `choose` return in the third iteration?"],
    ),
    generation_mistakes.source_as_target(STEPS),
    Mistake(
        "probabilities",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, -1].softmax(dim=-1)),
        summary="you pass probabilities to `choose` instead of logits",
        message=(
            "{summary}, so `choose` may pick a different token. Which step between the model and `choose` should you "
            "leave out?"
        ),
        hints=["Which function do you apply to the logits before you call `choose`?"],
    ),
    Mistake(
        "choose_not_used",
        STEPS.but(new_tokens=lambda: lambda next_logits: next_logits.argmax(dim=-1)),
        STEPS.but(
            new_tokens=lambda: lambda next_logits: torch.multinomial(next_logits.softmax(dim=-1), 1)[:, 0]
        ).attempt,
        summary="you choose the tokens yourself instead of calling `choose`",
        message=(
            "You choose the tokens yourself, by taking the likeliest ones or by sampling, so the caller's `choose` "
            "has no effect. Which argument should pick tokens from the logits?"
        ),
        hints=["If the caller passes a `choose` that always returns token 0, which tokens should you append?"],
    ),
    Mistake(
        "counts_bos",
        STEPS.but(n_rounds=lambda n_tokens: max(n_tokens - 1, 0)),
        summary="you generate one token too few, as if bos were one of the generated tokens",
        message="{summary}: with n_tokens = 1, you generate nothing. How many times should your loop run?",
        hints=["Does bos count as one of the n_tokens tokens that you should return?"],
    ),
    Mistake(
        "last_column_cut_off",
        STEPS.but(output=lambda written: written[:, :-1]),
        summary="you drop the newest token of each row instead of bos",
        message=(
            "{summary}: with n_tokens = 1, you return only bos. Which column of the target did the model not generate?"
        ),
        hints=["With n_tokens = 1, which token should you return: bos or the new one?"],
    ),
    Mistake(
        "returns_inside_the_loop",
        STEPS.but(
            n_rounds=lambda n_tokens: min(n_tokens, 1),
            output=lambda written, n_tokens: written[:, 1:] if n_tokens else None,
        ),
        summary="your loop ends after its first iteration",
        message="{summary}, so you return only one token for each source. Is your `return` inside the loop?",
        hints=[
            "With `n_tokens=4`, how many tokens should you return? How many do you return?",
            "A `return` ends the function, even in the middle of a loop.",
            "Move the `return` after the loop, to the indentation of the `for`.",
        ],
    ),
    generation_mistakes.target_of_floats(STEPS),
]


EXERCISE = Exercise(
    reference=generate_target,
    steps=STEPS,
    cases=generate_target_cases,
    points=2,
    verified="In every iteration, the model reads all tokens generated so far, and you append one token to each row.",
    hints=[
        "Take one source. What is its target before the first iteration, and what is it after the second?",
        "Start with a column of bos, one for each source. In each iteration, call the model on the source and the "
        "target so far, choose the next token, and append it.",
        "`model(source, target)` returns logits for every position, (batch, n, vocab_size). The *last* position "
        "predicts the next token, so `choose` gets `logits[:, -1]`.",
        "`torch.full((len(source), 1), bos_id)` is the column of bos. `torch.cat([target, new[:, None]], dim=1)` "
        "appends the new tokens. At the end, return everything but bos: `target[:, 1:]`.",
    ],
    messages={
        "left_out_output": Wording(
            "You return bos along with the generated tokens, so each row has n_tokens + 1 tokens. Which column should "
            "you leave out?",
            summary="you also return bos",
            hints=["With n_tokens = 1, how many tokens should you return for each source?"],
        ),
        "order_logits": Wording(
            "You pass the target as the first argument of the model and the source as the second, so the encoder "
            "reads the target. In which order does the model take its arguments?",
            summary="you swap the source and the target when you call the model",
            hints=["In `model(source, target)`, which argument does the encoder read?"],
        ),
        "number_start: 0": Wording(
            "Your target is empty in the first iteration, so the model has no last position to predict from. Which "
            "token should every target start with?",
            summary="you start with an empty target",
            hints=["For 3 sources, what shape should the target have before the first iteration?"],
        ),
        "not_indexed_extended": Wording(
            "You append a tensor of shape (batch,) to a target of shape (batch, n), so `torch.cat` raises an error. "
            "The new tokens should form a column. What shape does a column have?",
            summary="you append a tensor of shape (batch,) instead of a column",
            hints=[
                "A target has shape (3, 2). What shape should the new tokens have so that the extended target has "
                "shape (3, 3)?",
            ],
        ),
        "axis_extended: torch.cat([target, new_tokens[:, None]], dim=0)": Wording(
            "You append the tokens along dim 0, below the target, so they become additional rows. Along which `dim` "
            "should a target grow?",
            summary="you append the tokens along dim 0 instead of dim 1",
            hints=["With 2 sources, what shape should the target have after the first iteration?"],
        ),
    },
    mistakes=MISTAKES,
)
