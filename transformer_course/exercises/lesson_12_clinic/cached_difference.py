"""Compare a model's outputs for one call without a cache and one call per token with a cache."""

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


def cached_difference(model: nn.Module, tokens: Int[Tensor, "batch n"]) -> float:
    """Return the largest difference between the logits of one call and those of one call per token, with a cache."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        at_once, cache = model(tokens), model.new_cache()
        one_by_one = [model(tokens[:, [position]], cache) for position in range(tokens.shape[1])]
    model.train(was_training)
    return (torch.cat(one_by_one, dim=1) - at_once).abs().max().item()


def at_once(evaluating, tokens):
    """run the model on the whole text without a cache → the logits without a cache"""
    return evaluating(tokens)


def positions(tokens):
    """go through all positions → the positions: all, in order"""
    return range(tokens.shape[1])


def piece(tokens):
    """take one token of each text → the tokens of one position, (batch, 1)"""
    return lambda position: tokens[:, position : position + 1]


def kept():
    """use one cache for all tokens → the cache of the next call: the same cache"""
    return lambda cache, new_cache: cache


def call(evaluating):
    """call the model with one token and the cache → the logits of a call: one token per text, (batch, 1, vocab_size)"""
    return lambda piece, cache: evaluating(piece, cache)


def logits():
    """keep the logits of a call unchanged → the logits of the newest token, (batch, 1, vocab_size)"""
    return lambda logits: logits


def one_by_one(evaluating, positions, piece, kept, call, logits):
    """run the model token by token with a cache → the logits of each token: one call per token"""
    cache, found = evaluating.new_cache(), []
    for position in positions:
        found.append(logits(call(piece(position), cache)))
        cache = kept(cache, evaluating.new_cache)
    return found


def cached(one_by_one):
    """concatenate the logits of all positions → the logits with a cache, (batch, n, vocab_size)"""
    return torch.cat(one_by_one, dim=1)


def differences(at_once, cached):
    """subtract the logits without a cache → the differences, (batch, n, vocab_size)"""
    return cached - at_once


STEPS = InSteps(
    was_training, evaluating, at_once, positions, piece, kept, call, logits, one_by_one, cached, differences, sizes,
    largest, answer, reference=cached_difference
)  # fmt: skip


VOCAB_SIZE = 5


def cached_difference_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def exact(*shape: int) -> Tensor:
        """Draw numbers whose products and sums are exact, so that correct results agree to the last bit."""
        return (16 * normal(rng, *shape)).round() / 16

    def case(
        batch: int,
        n: int,
        shows: str,
        *faults: tuple[int, int],
        sign: float = 0.0,
        silent: tuple[int, ...] = (),
        **tables: Tensor,
    ) -> Case:
        """Return a case whose model mixes positions differently with a cache.

        A fault (i, j) changes the weight with which position i receives position j. With a sign of 1 or −1, the faults
        make every logit larger or smaller. The texts with an index in ``silent`` consist of token 0, whose embedding is
        0, so the faults do not show. The model accepts three times as many tokens as a text contains, so that a loop
        that passes too many tokens does not raise an error.
        """
        mixing = exact(3 * n, 3 * n).tril()
        cached = mixing.clone()
        for fault in faults:
            cached[fault] += round(16 * uniform(rng, 0.5, 1.5)) / 16
        embedding = exact(VOCAB_SIZE, VOCAB_SIZE + 1)
        tokens = torch.randint(1, VOCAB_SIZE, (batch, n), generator=rng)
        if silent:
            embedding[0] = 0.0
            tokens[list(silent)] = 0
        model = describe_model(
            "caching_mixer",
            embedding=sign * (embedding.abs() + 0.0625) if sign else embedding,
            mixing=mixing,
            cached_mixing=cached,
            **tables,
        )
        return Case({"model": model, "tokens": tokens}, shows)

    gain = torch.tensor(1.5)
    everywhere = [(i, j) for i in range(6) for j in range(i + 1)]
    return [
        case(1, 2, "a bug at the second token of two", (1, 0), sign=-1.0),
        case(1, 3, "a bug at the first token of three", (0, 0), sign=1.0),
        case(1, 3, "a bug at the last token of three", (2, 1)),
        case(2, 4, "a correct model"),
        case(2, 4, "a model in training mode", (2, 1), gain_in_training=gain),
        case(2, 4, "a model in eval mode", (1, 1), gain_in_training=gain, evaluates=torch.tensor(True)),
        case(2, 4, "a bug that only the second text shows", (1, 1), silent=(0,)),
        case(3, 5, "a bug that only the first of 3 texts shows", (2, 0), silent=(1, 2)),
        case(3, 6, "a bug at every token", *everywhere, sign=1.0),
        case(2, 9, "a bug at the eighth token of nine", (7, 2), (7, 3)),
        case(4, 12, "4 texts of 12 tokens", (9, 1), (5, 5)),
    ]


def token_by_token(model, tokens, cache):
    return torch.cat([model(tokens[:, [position]], cache) for position in range(tokens.shape[1])], dim=1)


def then_all_with_the_cache(evaluating, tokens):
    cache = evaluating.new_cache()
    return token_by_token(evaluating, tokens, cache) - evaluating(tokens, cache)


def all_with_the_cache_first(evaluating, tokens):
    cache = evaluating.new_cache()
    return evaluating(tokens, cache) - token_by_token(evaluating, tokens, cache)


def first_token_without_the_cache(evaluating, tokens):
    """Call the model on the first token without the cache, so that the cache never contains this token."""
    found = [evaluating(tokens[:, :1]), token_by_token(evaluating, tokens[:, 1:], evaluating.new_cache())]
    return torch.cat(found, dim=1)


MISTAKES = [
    Mistake(
        "a_new_cache_for_every_token",
        STEPS.but(kept=lambda: lambda cache, new_cache: new_cache()),
        summary="you give every token an empty cache",
        message=(
            "{summary}, so no token attends to the earlier tokens, and even a correct model shows a difference. Where "
            "should you create the cache?"
        ),
        hints=[
            "How many tokens does your cache hold before the third call, and how many should it hold?",
            "All calls for a sequence need the same cache, which grows by one token per call.",
            "Call `model.new_cache()` once, before the loop.",
        ],
    ),
    Mistake(
        "everything_so_far_with_the_cache",
        STEPS.but(
            piece=lambda tokens: lambda position: tokens[:, : position + 1],
            logits=lambda: lambda logits: logits[:, -1:],
        ),
        summary="you pass all tokens so far in addition to the cache",
        message=(
            "In every call, you pass *all* tokens so far. The cache already holds the earlier tokens, so after 3 calls "
            "it holds 6 tokens instead of 3. Which token is new in each call?"
        ),
        hints=[
            "How many tokens do you pass in the third call, and how many should you pass?",
            "In each call, only the token at the current position is new.",
            "In the loop, call `model(tokens[:, [position]], cache)`.",
        ],
    ),
    Mistake(
        "the_whole_with_a_cache_too",
        STEPS.but(differences=then_all_with_the_cache),
        STEPS.but(differences=all_with_the_cache_first),
        summary="you run the model on the whole sequence with the cache as well",
        message=(
            "{summary}, so the second run also attends to the tokens that the first run left in the cache. Which of "
            "the two runs needs no cache?"
        ),
        hints=["After both runs, how many tokens does your cache hold?"],
    ),
    Mistake(
        "nothing_is_taken_from_the_cache",
        STEPS.but(cached=lambda evaluating, tokens: evaluating(tokens, evaluating.new_cache())).attempt,
        STEPS.but(differences=lambda cached: cached - cached).attempt,
        message=(
            "You find no difference, even in a model with a bug, because your two outputs always agree. Which of them "
            "should come from one call per token with a shared cache?"
        ),
        hints=[
            "With a cache, how many calls do you need for a sequence of 5 tokens? Which of them read from the cache?",
            "A call reads from the cache what earlier calls have stored, so each call should get a single token.",
            "In a loop over the positions, call `model(tokens[:, [position]], cache)`, always with the same cache.",
        ],
    ),
    Mistake(
        "the_first_token_not_in_the_cache",
        STEPS.but(cached=first_token_without_the_cache),
        STEPS.but(positions=lambda tokens: range(1, tokens.shape[1]), at_once=lambda at_once: at_once[:, 1:]),
        summary="you never pass the first token together with the cache",
        message="{summary}, so no later token can attend to it. Where does your loop start?",
        hints=["What does your cache hold when you pass the second token?"],
    ),
    Mistake(
        "only_the_last_position",
        STEPS.but(differences=lambda differences: differences[:, -1]),
        STEPS.but(differences=lambda differences: differences[:, -1:]),
        summary="you compare only the last position",
        message=(
            "{summary}, so you miss errors at earlier positions. Does your code keep the logits from every decoding "
            "step?"
        ),
        hints=["If a model is wrong only at its first token, which of your numbers shows it?"],
    ),
    Mistake(
        "leaves_the_last_position_out",
        STEPS.but(differences=lambda differences: differences[:, :-1]),
        STEPS.but(positions=lambda tokens: range(tokens.shape[1] - 1), at_once=lambda at_once: at_once[:, :-1]),
        summary="you don't compare the last position",
        message=(
            "{summary}, so you miss an error that occurs only there. Which position is the last one that you compare?"
        ),
        hints=["Which positions does `range(n - 1)` visit?"],
    ),
]


EXERCISE = Exercise(
    reference=cached_difference,
    steps=STEPS,
    cases=cached_difference_cases,
    points=3,
    verified="You compare one call on all tokens with one call per token and a shared cache, and return the largest "
    "difference at any position.",
    hints=[
        "A sequence has 5 tokens. How many calls to the model do you need with a cache, and how many without a cache?",
        "Two ways lead to the same logits: `model(tokens)`, and a loop over the positions that passes one token of "
        "each sequence at a time, always with the same cache.",
        "Create the cache before the loop with `model.new_cache()`. In the loop, `model(tokens[:, [position]], cache)` "
        "returns logits of shape (batch, 1, vocab_size). Join them with `torch.cat(…, dim=1)`.",
        "`(a - b).abs().max().item()` is the largest difference. `model.eval()` switches dropout off. Store "
        "`model.training` before it, and restore it with `model.train(…)`.",
    ],
    messages={
        "option_left_out_call": Wording(
            "{summary}, so the model treats each token as a separate sequence. Which argument gives a call access to "
            "the earlier tokens?",
            summary="you don't pass the cache along with single tokens",
        ),
        "number_positions": Wording(
            "{summary}, so your code crashes. `tokens` has shape (batch, n), and the model also expects two "
            "dimensions, even if n is 1.",
            summary="you use an index with more dimensions than the tensor has",
        ),
        "axis_cached: torch.cat(one_by_one, dim=0)": Wording(
            "{summary}, which counts the *sequences*. Which `dim` counts the positions?",
            summary="you concatenate the logits of the tokens along dim 0",
        ),
    },
    mistakes=[
        *MISTAKES,
        *of_the_largest_difference(STEPS, "cached", "at_once", (0, 2), (-1,)),
        *of_the_mode(STEPS, "largest", "at_once"),
    ],
)
