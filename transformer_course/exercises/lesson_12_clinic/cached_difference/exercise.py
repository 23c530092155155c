"""Whether a model gives the same with a cache and without: token by token, and all at once."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_12_clinic.cached_difference import mistakes
from transformer_course.exercises.lesson_12_clinic.cached_difference.answer import STEPS, cached_difference
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.exercises.shared.eval_mode_mistakes import of_the_mode
from transformer_course.exercises.shared.largest_difference_mistakes import of_the_largest_difference
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model

VOCAB_SIZE = 5


def cached_difference_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def exact(*shape: int) -> Tensor:
        """Draw numbers whose products and sums are not rounded, so that what is equal is equal to the last bit."""
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
        """Describe a model by what it hears otherwise with a cache: which position of which earlier one.

        The logits are larger with a cache, or smaller, if there is a sign. Where a text is silent, all its tokens are
        0, whose embedding then is 0, so that it shows no fault. The model can read three times as many
        tokens, so that a loop that shows it too many goes on.
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
        case(1, 2, "a fault at the second token of two", (1, 0), sign=-1.0),
        case(1, 3, "a fault at the first token of three", (0, 0), sign=1.0),
        case(1, 3, "a fault at the last token of three", (2, 1)),
        case(2, 4, "a healthy model"),
        case(2, 4, "a model that is left in training mode", (2, 1), gain_in_training=gain),
        case(2, 4, "a model that comes in eval mode", (1, 1), gain_in_training=gain, evaluates=torch.tensor(True)),
        case(2, 4, "a fault that only the second text shows", (1, 1), silent=(0,)),
        case(3, 5, "a fault that only the first of 3 texts shows", (2, 0), silent=(1, 2)),
        case(3, 6, "faults at every token", *everywhere, sign=1.0),
        case(2, 9, "a fault at the eighth token of nine", (7, 2), (7, 3)),
        case(4, 12, "4 texts of 12 tokens", (9, 1), (5, 5)),
    ]


CACHED_DIFFERENCE = Exercise(
    reference=cached_difference,
    steps=STEPS,
    cases=cached_difference_cases,
    points=3,
    verified="One call on all tokens, one call per token with the same cache, and the largest difference at any "
    "position.",
    hints=[
        "There are two ways to the same logits: `model(tokens)`, and a loop over the positions that gives the model "
        "one token of each text at a time, and always the same cache.",
        "`cache = model.new_cache()` before the loop, and `model(tokens[:, [position]], cache)` in it: logits of the "
        "shape (batch, 1, vocab_size). `torch.cat(…, dim=1)` puts them after one another.",
        "The size of a difference has no sign: `(a - b).abs().max().item()`.",
        "`model.eval()` switches off what is random in training, and `model.training` tells whether it was on, so that "
        "`model.train(...)` can leave the model as it was.",
    ],
    told={
        "option_left_out_call": (
            "The model is not given the cache when it reads single tokens, and so each is a text of its own. "
            "Look at what the model is called with."
        ),
        "number_positions": (
            "The model is given a tensor of one axis. It takes (batch, n), even where n is 1. Look at the "
            "index that takes one position."
        ),
        "axis_cached: torch.cat(one_by_one, dim=0)": (
            "The logits of the tokens are joined along the axis of the *texts*. Look at the axis that `torch.cat` gets."
        ),
    },
    mistakes=[
        *mistakes.MISTAKES,
        *of_the_largest_difference(STEPS, "cached", "at_once", (0, 2), (-1,)),
        *of_the_mode(STEPS, "largest", "at_once"),
    ],
)
