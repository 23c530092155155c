"""Two parameter groups for AdamW, with and without weight decay."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps
from transformer_lab.training.optimizer import parameter_groups


def parameters(model):
    """list the parameters of the model → the model's parameters: each once"""
    return list(model.parameters())


def decays():
    """check for two dimensions or more → the rule for decay: two dimensions or more"""
    return lambda p: p.dim() >= 2


def entry():
    """put the parameters themselves into the lists → the entries of the lists: the parameters themselves"""
    return lambda p: p


def decaying(parameters, decays, entry):
    """list the parameters that decay → the parameters that decay"""
    return [entry(p) for p in parameters if decays(p)]


def others(parameters, decays, entry):
    """list the remaining parameters → the parameters that don't decay"""
    return [entry(p) for p in parameters if not decays(p)]


def decay(weight_decay):
    """use `weight_decay` for the first group → the first group's weight decay: `weight_decay`"""
    return weight_decay


def no_decay():
    """use 0 for the second group → the second group's weight decay: 0"""
    return 0.0


def groups(decaying, others, decay, no_decay):
    """combine each list and its weight decay in a dict → the two groups"""
    return [{"params": decaying, "weight_decay": decay}, {"params": others, "weight_decay": no_decay}]


STEPS = InSteps(parameters, decays, entry, decaying, others, decay, no_decay, groups, reference=parameter_groups)


def parameter_groups_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def linear(d: int, d_out: int, weight_decay: float, shows: str) -> Case:
        model = describe_model("affine", weight=normal(rng, d_out, d), bias=normal(rng, d_out))
        return Case({"model": model, "weight_decay": weight_decay}, shows)

    def case(vocab_size: int, d: int, d_out: int, weight_decay: float, shows: str) -> Case:
        model = describe_model(
            "tied_parameters",
            embedding=normal(rng, vocab_size, d),
            weight=normal(rng, d_out, d),
            bias=normal(rng, d_out),
            norm_weight=normal(rng, d),
            norm_bias=normal(rng, d),
            places=normal(rng, d_out, d),
            filters=normal(rng, 2, d, d),
            table=normal(rng, 1, 1),
            gate=normal(rng, 1),
            scale=normal(rng, 1)[0],
            positions=normal(rng, d_out, d),
        )
        return Case({"model": model, "weight_decay": weight_decay}, shows)

    return [
        linear(2, 3, 0.1, "a matrix and a bias"),
        linear(2, 4, 0.0, "a matrix and a bias, and a weight decay of 0: still two groups"),
        case(
            3,
            2,
            5,
            0.1,
            "embeddings that share a matrix with the output layer, a linear layer, a norm, filters, a scale",
        ),
        case(11, 5, 7, uniform(rng, 0.2, 0.4), "the same, larger, with another weight decay"),
    ]


def in_order(output: Any, case: Case) -> Any:
    """Sort the groups and their parameters, because AdamW ignores their order, and drop the names."""
    if not isinstance(output, list | tuple) or not all(map(_is_group, output)):
        return output
    groups = [{**group, "params": sorted(map(_unnamed, group["params"]), key=_key)} for group in output]
    return sorted(groups, key=lambda group: (_number(group.get("weight_decay")), [_key(p) for p in group["params"]]))


def _number(decay: Any) -> str:
    return str(float(decay)) if isinstance(decay, int | float) else str(decay)


def _is_group(group: Any) -> bool:
    if not isinstance(group, Mapping) or not isinstance(group.get("params"), list | tuple):
        return False
    return all(isinstance(_unnamed(p), Tensor) for p in group["params"])


def _unnamed(parameter: Any) -> Any:
    """Return the parameter from a (name, parameter) pair, which AdamW also accepts."""
    is_pair = isinstance(parameter, list | tuple) and len(parameter) == 2 and isinstance(parameter[0], str)
    return parameter[1] if is_pair else parameter


def _key(parameter: Tensor) -> tuple[int, list[int], str]:
    return parameter.dim(), list(parameter.shape), str(parameter.flatten()[:1].tolist())


def by_name(rule):
    """Return the answer that applies decay to the parameters whose names satisfy ``rule``."""

    def decays(model):
        names = {id(p): name for name, p in model.named_parameters()}
        return lambda p: rule(names[id(p)])

    return STEPS.but(decays=decays)


def of_linear_layers(model):
    """Return the rule that only the parameters of linear layers decay, including biases."""
    linear = {id(p) for m in model.modules() if isinstance(m, nn.Linear) for p in m.parameters(recurse=False)}
    return lambda p: id(p) in linear


def by_module(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    decaying: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for module in model.modules():
        for p in module.parameters(recurse=False):
            (decaying if isinstance(module, nn.Linear) else others).append(p)
    return [{"params": decaying, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]


MISTAKES = [
    Mistake(
        "decides_by_module",
        STEPS.but(decays=of_linear_layers),
        by_module,
        summary="you apply weight decay to all parameters of linear layers, and to nothing else",
        message=(
            "{summary}, so biases decay, but tensors in other modules, such as `filters`, don't. Which property of a "
            "parameter should determine whether it decays?"
        ),
        hints=["Which of your groups contains the bias of a linear layer? Which group contains the filters?"],
    ),
    Mistake(
        "shared_ones_twice",
        STEPS.but(parameters=lambda model: [p for m in model.modules() for p in m.parameters(recurse=False)]),
        summary="you list shared parameters more than once",
        message=(
            "{summary}, so the optimizer decays and updates each of them more than once per step. How can you list "
            "each parameter only once?"
        ),
        hints=["How many tensors are in your groups, and how many does `model.parameters()` return?"],
    ),
    Mistake(
        "everything_decays",
        STEPS.but(
            groups=lambda parameters, decay, entry: [{"params": [entry(p) for p in parameters], "weight_decay": decay}]
        ),
        STEPS.but(no_decay=lambda weight_decay: weight_decay),
        summary="you apply weight decay to all parameters",
        message=(
            "{summary}, including biases and norms, so the weights of a norm are pulled from 1 toward 0. Which "
            "parameters should not decay?"
        ),
        hints=["Which weight decay does the group with the biases have?"],
    ),
    Mistake(
        "embeddings_do_not_decay",
        STEPS.but(
            decays=lambda model: (
                lambda p: p.dim() >= 2 and not any(p is q for n, q in model.named_parameters() if "embedding" in n)
            )
        ),
        summary="you exclude the embedding from weight decay",
        message=(
            "{summary}. In this model, the embedding shares its matrix with the output layer, so that matrix doesn't "
            "decay either. How many dimensions does it have?"
        ),
        hints=["Which of your groups contains the tensor of shape (vocab_size, d)?"],
    ),
    Mistake(
        "weights_of_layers_only",
        by_name(lambda name: name.endswith("weight") and "norm" not in name),
        summary="you apply weight decay only to the weights of linear layers and embeddings",
        message=(
            "{summary}. In this model, `table` and `filters` also have two or more dimensions, but they don't decay "
            "in your code. Which property of a parameter should determine whether it decays?"
        ),
        hints=["Which of your groups contains the filters, of shape (2, d, d)?"],
    ),
    Mistake(
        "norms_decay",
        by_name(lambda name: "bias" not in name),
        summary="you apply weight decay to every parameter without `bias` in its name, including the weights of norms",
        message=(
            "{summary}. The weight of a norm is a vector, so weight decay should not pull it from 1 toward 0. How "
            "many dimensions should a parameter have to decay?"
        ),
        hints=["Which of your groups contains the weights of the norm?"],
    ),
    Mistake(
        "decides_by_names",
        by_name(lambda name: "norm" not in name and "bias" not in name),
        summary="you apply weight decay to every parameter without `bias` or `norm` in its name",
        message=(
            "You decide by name which parameters decay. That fails for parameters with other names, such as the "
            "vector `gate` in this model, which should not decay. What do all parameters that should decay have in "
            "common?"
        ),
        hints=["Print the names and shapes of `model.named_parameters()`."],
    ),
    Mistake(
        "two_axes_exactly",
        STEPS.but(decays=lambda: lambda p: p.dim() == 2),
        summary="you apply weight decay only to parameters with exactly two dimensions",
        message=(
            "{summary}, so a tensor with three dimensions doesn't decay. For which numbers of dimensions should a "
            "parameter decay?"
        ),
        hints=["Which of your groups contains a tensor of shape (2, 5, 5)?"],
    ),
    Mistake(
        "a_group_is_empty",
        STEPS.but(others=lambda: []),
        STEPS.but(decaying=lambda: []),
        summary="you leave one of the two groups empty",
        message=(
            "One of your two groups is empty. `model.parameters()` returns an iterator: if you build both lists from "
            "the same iterator, the first list exhausts it. How long is each of your lists?"
        ),
        hints=[
            "If `parameters = model.parameters()`, what does `list(parameters)` return the second time?",
        ],
    ),
    Mistake(
        "leaves_some_out",
        STEPS.but(others=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 1]),
        STEPS.but(decaying=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 2]),
        summary="you leave some parameters out of both groups",
        message=(
            "{summary}, so the optimizer never updates them. Which numbers of dimensions do your conditions miss?"
        ),
        hints=["How many tensors are in your groups, and how many does `model.parameters()` return?"],
    ),
    Mistake(
        "leaves_the_second_to_the_default",
        STEPS.but(
            groups=lambda decaying, others, decay: [{"params": decaying, "weight_decay": decay}, {"params": others}]
        ),
        summary="you don't set `weight_decay` for one of the groups",
        message=(
            "{summary}, so AdamW applies its default of 0.01 to that group instead of 0. Which parameters should not "
            "be decayed?"
        ),
        hints=["Which keys does each of your two dicts have?"],
    ),
    Mistake(
        "a_fixed_weight_decay",
        STEPS.but(weight_decay=lambda: 0.01),
        STEPS.but(decay=lambda: 0.1).attempt,
        summary="you use a fixed weight decay instead of the argument `weight_decay`",
        message=(
            "{summary}, so your result is the same for every `weight_decay`. Which number should you replace with the "
            "argument?"
        ),
        hints=["One case passes 0.0. Which weight decay does your first group have then?"],
    ),
]


EXERCISE = Exercise(
    reference=parameter_groups,
    steps=STEPS,
    cases=parameter_groups_cases,
    points=2,
    verified="Parameters with two or more dimensions decay, all others don't, and shared parameters are listed once.",
    hints=[
        "A model has a weight of shape (3, 2), a bias of shape (3,) and a scalar. Which of these should decay?",
        "`model.parameters()` returns every parameter once, including shared parameters. `p.dim()` is the number of "
        "dimensions of a parameter.",
        "Make two lists: `[p for p in model.parameters() if p.dim() >= 2]`, and a list of all other parameters.",
        'Put each list into a dict, `{"params": …, "weight_decay": …}`: the first with the given weight decay, the '
        "second with 0.0. Return the two dicts in a list.",
    ],
    messages={
        "comparison_decays: (p.dim()) < (2)": Wording(
            "{summary}, so biases and norms decay, and matrices don't. Which parameters should decay?",
            summary="you swap the two groups",
            hints=["Which weight decay does a matrix get in your code?"],
        ),
        "comparison_decays: (p.dim()) <= (2)": Wording(
            "{summary}, so biases and norms decay, and a tensor with three dimensions doesn't. Which parameters should "
            "decay?",
            summary="you apply weight decay to parameters with *at most* two dimensions",
            hints=["Which weight decay does a bias get in your code?"],
        ),
        "comparison_decays: (p.dim()) > (2)": Wording(
            "{summary}, so no matrix decays. How many dimensions does a matrix have?",
            summary="you apply weight decay only to parameters with more than two dimensions",
            hints=["Which weight decay does a matrix get in your code?"],
        ),
    },
    mistakes=MISTAKES,
    normalize=in_order,
)
