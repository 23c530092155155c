"""What goes wrong with the form of parameter groups."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.parameter_groups.answer import STEPS


def with_keys(params, weight_decay):
    """Make the step that calls the entries of the dicts otherwise."""
    return STEPS.but(
        groups=lambda decaying, others, decay, no_decay: [
            {params: decaying, weight_decay: decay},
            {params: others, weight_decay: no_decay},
        ]
    )


MISTAKES = [
    Mistake(
        "copies",
        STEPS.but(entry=lambda: lambda p: p.data),
        STEPS.but(entry=lambda: lambda p: p.clone()).attempt,
        does="the lists hold copies, or the bare numbers, and not the parameters themselves",
        says=(
            "The numbers are those of the parameters, but the tensors are not the parameters themselves: no gradient "
            "ever reaches them, so AdamW trains nothing."
        ),
        hints=["In a new cell: is `model.weight.data is model.weight` True, for some linear layer?"],
    ),
    Mistake(
        "generators_for_lists",
        STEPS.but(
            decaying=lambda decaying: (p for p in decaying),
            others=lambda others: (p for p in others),
        ),
        STEPS.but(
            decaying=lambda decaying: filter(bool, decaying),
            others=lambda others: filter(bool, others),
        ).attempt,
        STEPS.but(decaying=lambda decaying: set(decaying), others=lambda others: set(others)).attempt,
        does="`params` holds no list",
        says="{does}, but something that can be gone through only once, or has no order. Lists are asked for.",
        hints=["In a new cell: `g = (n for n in range(3))`, then `list(g)` twice."],
    ),
    Mistake(
        "leaves_the_second_to_the_default",
        STEPS.but(
            groups=lambda decaying, others, decay: [
                {"params": decaying, "weight_decay": decay},
                {"params": others},
            ]
        ),
        STEPS.but(groups=lambda decaying, others: [{"params": decaying}, {"params": others}]).attempt,
        does="a group says nothing of its weight decay",
        says="{does}. AdamW then takes its own, and that is not 0.",
        hints=["What is the default of `weight_decay` in `torch.optim.AdamW`?"],
    ),
    Mistake(
        "other_keys",
        with_keys("params", "decay"),
        *[
            with_keys(params, decay).attempt
            for params, decay in (
                ("params", "wd"),
                ("params", "weight-decay"),
                ("params", "weightdecay"),
                ("params", "lambda"),
                ("parameters", "weight_decay"),
                ("param", "weight_decay"),
                ("parameters", "decay"),
            )
        ],
        does="the keys of the dicts are not the two that AdamW knows",
        says=(
            "The dicts have other keys than AdamW knows: it would not find its parameters, or not see the weight decay."
        ),
        hints=["Which two keys does a group in the text have?"],
    ),
]
