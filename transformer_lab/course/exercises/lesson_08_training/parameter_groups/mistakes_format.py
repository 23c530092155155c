"""What goes wrong with the form of parameter groups."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_08_training.parameter_groups.mistakes import by_dimension, groups


def a_generator_used_up(model, weight_decay):
    parameters = model.parameters()
    return groups((p for p in parameters if p.dim() >= 2), (p for p in parameters if p.dim() < 2), weight_decay)


def generators_for_lists(model, weight_decay):
    return [
        {"params": (p for p in model.parameters() if p.dim() >= 2), "weight_decay": weight_decay},
        {"params": (p for p in model.parameters() if p.dim() < 2), "weight_decay": 0.0},
    ]


def filters_for_lists(model, weight_decay):
    return [
        {"params": filter(lambda p: p.dim() >= 2, model.parameters()), "weight_decay": weight_decay},
        {"params": filter(lambda p: p.dim() < 2, model.parameters()), "weight_decay": 0.0},
    ]


def leaves_the_second_to_the_default(model, weight_decay):
    matrices, vectors = by_dimension(model.parameters(), weight_decay)
    return [matrices, {"params": vectors["params"]}]


def leaves_both_to_the_default(model, weight_decay):
    return [{"params": group["params"]} for group in by_dimension(model.parameters(), weight_decay)]


def copies(model, weight_decay):
    return by_dimension([p.data for p in model.parameters()], weight_decay)


def detached(model, weight_decay):
    return by_dimension([p.detach() for p in model.parameters()], weight_decay)


def clones(model, weight_decay):
    return by_dimension([p.clone() for p in model.parameters()], weight_decay)


def lists_without_dicts(model, weight_decay):
    return [group["params"] for group in by_dimension(model.parameters(), weight_decay)]


def lists_in_one_dict(model, weight_decay):
    matrices, vectors = by_dimension(model.parameters(), weight_decay)
    return {"decay": matrices["params"], "no_decay": vectors["params"]}


def the_optimizer_itself(model, weight_decay):
    return torch.optim.AdamW(by_dimension(model.parameters(), weight_decay))


def names_only(model, weight_decay):
    named = dict(model.named_parameters())
    return groups(
        [n for n, p in named.items() if p.dim() >= 2], [n for n, p in named.items() if p.dim() < 2], weight_decay
    )


def looks_for_tensors_in_a_list(model, weight_decay):
    decaying = [p for p in model.parameters() if p.dim() >= 2]
    return groups(decaying, [p for p in model.parameters() if p not in decaying], weight_decay)


def a_fixed_weight_decay(model, weight_decay):
    return by_dimension(model.parameters(), 0.01)


MISTAKES = [
    Mistake(
        "a_generator_used_up",
        [a_generator_used_up],
        says=(
            "The second group is empty: `model.parameters()` is a generator, and can be gone through once. The first list "
            "has used it up."
        ),
        hints=[
            "In a new cell: `g = (n for n in range(3))`, then `list(g)` twice.",
            "Either ask the model for its parameters twice, or keep them.",
            "`list(model.parameters())`.",
        ],
    ),
    Mistake(
        "generators_for_lists",
        [generators_for_lists, filters_for_lists],
        says=(
            "`params` holds something that can be gone through only once. Whoever looks inside before AdamW does leaves it "
            "nothing. Lists are asked for."
        ),
        hints=[
            "In a new cell: `g = (n for n in range(3))`, then `list(g)` twice.",
            "Round brackets make a generator, square ones a list.",
            "`[p for p in …]`, or `list(…)`.",
        ],
    ),
    Mistake(
        "leaves_the_second_to_the_default",
        [leaves_the_second_to_the_default, leaves_both_to_the_default],
        says="A group says nothing of its weight decay. AdamW then takes its own, and that is not 0.",
        hints=[
            "What is the default of `weight_decay` in `torch.optim.AdamW`?",
            "Each of the groups needs both keys.",
            '`"weight_decay": 0.0` in the second.',
        ],
    ),
    Mistake(
        "copies",
        [copies, detached, clones],
        says=(
            "The numbers are those of the parameters, but the tensors are not the parameters themselves: no gradient ever "
            "reaches them, so AdamW trains nothing."
        ),
        hints=[
            "In a new cell: is `model.weight.data is model.weight` True, for some linear layer?",
            "Which tensors does `backward` write gradients to?",
            "Hand over each `p` as it is: no `.data`, `.detach()` or `.clone()`.",
        ],
    ),
    Mistake(
        "lists_without_dicts",
        [lists_without_dicts, lists_in_one_dict],
        says="The tensors are divided, but nothing says how much each group decays. Two dicts are asked for.",
        hints=[
            "Which two keys does a group for AdamW have?",
            "A list of tensors is what goes under `params`.",
            '`{"params": …, "weight_decay": …}` for each.',
        ],
    ),
    Mistake(
        "looks_for_tensors_in_a_list",
        [looks_for_tensors_in_a_list],
        says=(
            "`in` compares with each member by `==`, and torch does so entry by entry: tensors of different shapes crash, "
            "and equal numbers are no proof of one and the same tensor."
        ),
        hints=[
            "What is `torch.ones(2) == torch.ones(2)`?",
            "Which tensors come into the second group can be told without the first.",
            "`[p for p in model.parameters() if p.dim() < 2]`.",
        ],
    ),
    Mistake(
        "a_fixed_weight_decay",
        [a_fixed_weight_decay],
        says="The weight decay is always 0.01. How much it is to be, the last argument says.",
        hints=[
            "Where does the argument `weight_decay` occur in the code?",
            "The 0.01 of the text is an example.",
            '`"weight_decay": weight_decay` in the group of the matrices.',
        ],
    ),
    Mistake(
        "the_optimizer_itself",
        [the_optimizer_itself],
        says="This is an optimizer. What is asked for are the two groups, from which one can be made.",
        hints=[
            "What does the annotation say behind the arrow?",
            "`torch.optim.AdamW(groups)` comes later, in the training loop.",
            "Return the list of two dicts.",
        ],
    ),
    Mistake(
        "names_only",
        [names_only],
        says="The groups hold names. AdamW wants the tensors themselves.",
        hints=[
            "What does `model.named_parameters()` give?",
            "Of each pair, the second is the tensor.",
            "`[p for name, p in model.named_parameters() if …]`.",
        ],
    ),
]
