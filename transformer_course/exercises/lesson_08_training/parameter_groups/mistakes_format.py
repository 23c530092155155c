"""What goes wrong with the form of parameter groups."""

import torch

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


def an_optimizer(model, weight_decay):
    """Return an optimizer that holds nothing: what it is tells, and to make a real one takes seconds."""
    return torch.optim.AdamW.__new__(torch.optim.AdamW)


def a_group_for_each_number_of_axes(model, weight_decay):
    by_axes: dict[int, list[object]] = {}
    for p in model.parameters():
        by_axes.setdefault(p.dim(), []).append(p)
    return [{"params": ps, "weight_decay": weight_decay if n >= 2 else 0.0} for n, ps in by_axes.items()]


def one_group_for_equal_weight_decays(model, weight_decay):
    by_decay: dict[float, list[object]] = {}
    for p in model.parameters():
        by_decay.setdefault(weight_decay if p.dim() >= 2 else 0.0, []).append(p)
    return [{"params": ps, "weight_decay": decay} for decay, ps in by_decay.items()]


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
        "names_only",
        STEPS.but(entry=lambda model: lambda p: next(name for name, q in model.named_parameters() if q is p)),
        does="the lists hold the names of the parameters",
        says="The groups hold names. AdamW wants the tensors themselves.",
        hints=["What does `model.named_parameters()` give?"],
    ),
    Mistake(
        "shapes_only",
        STEPS.but(entry=lambda: lambda p: p.shape),
        STEPS.but(entry=lambda: lambda p: p.numel()).attempt,
        STEPS.but(entry=lambda: lambda p: p.dim()).attempt,
        does="the lists hold the shapes or sizes of the parameters",
        says="The groups hold shapes or sizes. AdamW wants the tensors themselves.",
        hints=["What is in the lists?"],
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
    Mistake(
        "no_number_for_no_decay",
        STEPS.but(no_decay=lambda: None),
        does="the weight decay of the second group is no number",
        says="{does}. No decay is a decay of 0.",
        hints=["What does AdamW multiply by the weight decay?"],
    ),
    Mistake(
        "lists_without_dicts",
        STEPS.but(groups=lambda decaying, others: [decaying, others]),
        STEPS.but(groups=lambda decaying, others: [others, decaying]).attempt,
        STEPS.but(groups=lambda decaying, others: {"decay": decaying, "no_decay": others}).attempt,
        STEPS.but(groups=lambda decaying, others: {True: decaying, False: others}).attempt,
        does="the lists are returned without their weight decay",
        says="The tensors are divided, but nothing says how much each group decays. Two dicts are asked for.",
        hints=["Which two keys does a group for AdamW have?"],
    ),
    Mistake(
        "only_one_group",
        STEPS.but(groups=lambda groups: groups[:1]),
        STEPS.but(groups=lambda groups: groups[0]).attempt,
        STEPS.but(groups=lambda groups: groups[1:]).attempt,
        does="only one of the two groups is returned",
        says="Only one of the groups is returned. What is in none of them would never be trained.",
        hints=["What does the annotation say behind the arrow?"],
    ),
    Mistake(
        "a_group_for_each_parameter",
        STEPS.but(
            groups=lambda parameters, decays, entry, decay, no_decay: [
                {"params": [entry(p)], "weight_decay": decay if decays(p) else no_decay} for p in parameters
            ]
        ),
        STEPS.but(
            groups=lambda parameters, decays, entry, decay, no_decay: [
                {"params": entry(p), "weight_decay": decay if decays(p) else no_decay} for p in parameters
            ]
        ).attempt,
        does="there is a group for each parameter",
        says="{does}. Two are asked for: one for all that decay, one for all the others.",
        hints=["How many dicts are in the list?"],
    ),
    Mistake(
        "a_group_for_each_number_of_axes",
        a_group_for_each_number_of_axes,
        says="There is a group for each number of axes. Two are asked for: two axes and more, and fewer.",
        hints=[
            "How many dicts are in the list?",
            "Groups with the same weight decay are one group.",
            "Two lists: `p.dim() >= 2` for the one, `p.dim() < 2` for the other.",
        ],
    ),
    Mistake(
        "one_group_for_equal_weight_decays",
        one_group_for_equal_weight_decays,
        says=(
            "The groups are told apart by their weight decay. Where the argument is 0, both have the same, and only "
            "one group is left."
        ),
        hints=[
            "How many groups come out for a weight decay of 0?",
            "The number of axes tells the two groups apart.",
            "Two lists, whatever the weight decay.",
        ],
    ),
    Mistake(
        "tuples_for_dicts",
        STEPS.but(groups=lambda decaying, others, decay, no_decay: [(decaying, decay), (others, no_decay)]),
        does="each list stands in a tuple with its weight decay, not in a dict",
        says="Each list stands in a tuple with its weight decay. AdamW wants dicts with names for the two.",
        hints=["What does the annotation say behind the arrow?"],
    ),
    Mistake(
        "one_tensor_for_many",
        STEPS.but(
            decaying=lambda decaying: torch.cat([p.flatten() for p in decaying]),
            others=lambda others: torch.cat([p.flatten() for p in others]),
        ).attempt,
        says="The parameters of a group are joined to one new tensor. AdamW would step that, and not the parameters.",
        hints=[
            "Which tensors does `backward` write gradients to?",
            "What goes under `params` is a list of parameters.",
            "`[p for p in model.parameters() if …]`.",
        ],
    ),
    Mistake(
        "a_fixed_weight_decay",
        STEPS.but(weight_decay=lambda: 0.01),
        STEPS.but(decay=lambda: 0.1).attempt,
        does="the weight decay is always the same number, whatever the argument says",
        says="The weight decay is always the same. The last argument says how much it should be.",
        hints=["Where does the argument `weight_decay` occur in the code?"],
    ),
    Mistake(
        "the_optimizer_itself",
        an_optimizer,
        says="This is an optimizer. What is asked for are the two groups, from which one can be made.",
        hints=[
            "What does the annotation say behind the arrow?",
            "`torch.optim.AdamW(groups)` comes later, in the training loop.",
            "Return the list of two dicts.",
        ],
    ),
]
