"""Two groups of parameters for AdamW: those that decay, and those that do not."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps
from transformer_lab.training.optimizer import parameter_groups


def parameters(model):
    """list the parameters of the model, each once → the parameters, each once"""
    return list(model.parameters())


def decays():
    """count the axes of each parameter → whether a parameter decays: whether it has two axes or more"""
    return lambda p: p.dim() >= 2


def entry():
    """hand over the parameters themselves → what stands in the lists: the parameters themselves"""
    return lambda p: p


def decaying(parameters, decays, entry):
    """list those that decay → the parameters that decay"""
    return [entry(p) for p in parameters if decays(p)]


def others(parameters, decays, entry):
    """list all the others → the parameters that do not decay"""
    return [entry(p) for p in parameters if not decays(p)]


def decay(weight_decay):
    """take the weight decay that was given for the ones → the weight decay of the first group"""
    return weight_decay


def no_decay():
    """take 0 for the others → the weight decay of the second group: 0"""
    return 0.0


def groups(decaying, others, decay, no_decay):
    """make a dict of each list and its weight decay → the two groups"""
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
    """Sort the groups and the parameters in them, whose order means nothing to AdamW, and leave out their names."""
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
    """Take the parameter from a pair of a name and a parameter, which AdamW takes as well."""
    is_pair = isinstance(parameter, list | tuple) and len(parameter) == 2 and isinstance(parameter[0], str)
    return parameter[1] if is_pair else parameter


def _key(parameter: Tensor) -> tuple[int, list[int], str]:
    return parameter.dim(), list(parameter.shape), str(parameter.flatten()[:1].tolist())


def by_name(rule):
    """Make the step that decides by the names of parameters, or by parts of them."""

    def decays(model):
        names = {id(p): name for name, p in model.named_parameters()}
        return lambda p: rule(names[id(p)])

    return STEPS.but(decays=decays)


MISTAKES = [
    Mistake(
        "shared_ones_twice",
        STEPS.but(parameters=lambda model: [p for m in model.modules() for p in m.parameters(recurse=False)]),
        summary="parameters that modules share are listed several times",
        message="{summary}, and would be decayed and stepped as often. AdamW refuses such groups, or warns of them.",
        hints=["How many tensors are in the groups, and how many does `model.parameters()` give?"],
    ),
    Mistake(
        "everything_decays",
        STEPS.but(
            groups=lambda parameters, decay, entry: [{"params": [entry(p) for p in parameters], "weight_decay": decay}]
        ),
        STEPS.but(no_decay=lambda weight_decay: weight_decay),
        summary="all parameters get the weight decay",
        message="Everything decays, biases and norms, too. A norm's weights would be pulled from 1 toward 0.",
        hints=["Which weight decay has the group of the vectors?"],
    ),
    Mistake(
        "embeddings_do_not_decay",
        STEPS.but(
            decays=lambda model: (
                lambda p: p.dim() >= 2 and not any(p is q for n, q in model.named_parameters() if "embedding" in n)
            )
        ),
        summary="embeddings do not decay",
        message="The embedding is a matrix, and does not decay here. It is the output layer's matrix, too.",
        hints=["Which group holds the tensor of shape (vocab_size, d)?"],
    ),
    Mistake(
        "weights_of_layers_only",
        by_name(lambda name: name.endswith("weight") and "norm" not in name),
        summary="only the weights of linear layers and embeddings decay",
        message="{summary}. Other parameters have two axes and more, too: `table` and `filters` in this model.",
        hints=["Which group holds the filters, of shape (n, d, d)?"],
    ),
    Mistake(
        "norms_decay",
        by_name(lambda name: "bias" not in name),
        summary="everything decays that is not called bias, the weights of norms included",
        message="{summary}, which are vectors.",
        hints=["Which group holds the weights of the norm?"],
    ),
    Mistake(
        "decides_by_names",
        by_name(lambda name: "norm" not in name and "bias" not in name),
        summary="everything decays that is called neither bias nor norm",
        message=(
            "What decays is decided by names. That works until a parameter is called otherwise, as `gate` in this "
            "model, which is a vector."
        ),
        hints=["Print the names and shapes of `model.named_parameters()`."],
    ),
    Mistake(
        "two_axes_exactly",
        STEPS.but(decays=lambda: lambda p: p.dim() == 2),
        summary="parameters with three axes are grouped with the vectors, not with the matrices",
        message="A parameter with three axes does not decay. Those with two *and more* should.",
        hints=["Into which group does a tensor with 3 axes fall?"],
    ),
    Mistake(
        "a_group_is_empty",
        STEPS.but(others=lambda: []),
        STEPS.but(decaying=lambda: []),
        summary="one of the two groups is empty",
        message=(
            "{summary}. Do both lists run over the same `model.parameters()`? It is an iterator: the first list uses "
            "it up, and nothing is left for the second."
        ),
        hints=["How long are the two lists? What does `list(parameters)` give when it is asked for twice?"],
    ),
    Mistake(
        "leaves_some_out",
        STEPS.but(others=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 1]),
        STEPS.but(decaying=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 2]),
        summary="some parameters are in neither group",
        message="{summary}: they would never be trained. Which numbers of axes are left out?",
        hints=["How many tensors are in the groups, and how many does `model.parameters()` give?"],
    ),
    Mistake(
        "leaves_the_second_to_the_default",
        STEPS.but(
            groups=lambda decaying, others, decay: [{"params": decaying, "weight_decay": decay}, {"params": others}]
        ),
        summary="a group says nothing of its weight decay",
        message="{summary}. AdamW then takes its own, and that is not 0.",
        hints=["What is the default of `weight_decay` in `torch.optim.AdamW`?"],
    ),
    Mistake(
        "a_fixed_weight_decay",
        STEPS.but(weight_decay=lambda: 0.01),
        STEPS.but(decay=lambda: 0.1).attempt,
        summary="the weight decay is always the same number, whatever the argument says",
    ),
]


EXERCISE = Exercise(
    reference=parameter_groups,
    steps=STEPS,
    cases=parameter_groups_cases,
    points=2,
    verified="Matrices and whatever has more axes decay, all else does not, and what is shared comes once.",
    hints=[
        "`model.parameters()` gives every parameter once, shared ones too. `p.dim()` counts the axes of one.",
        "Two lists: `[p for p in model.parameters() if p.dim() >= 2]`, and all the others.",
        'Each goes into a dict, `{"params": …, "weight_decay": …}`: the first with the weight decay that was given, '
        "the second with 0.0. Return the two dicts in a list.",
    ],
    mistakes=MISTAKES,
    normalize=in_order,
)
