"""Two groups of parameters for AdamW: those that decay, and those that do not."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_08_training.parameter_groups.answer import STEPS
from transformer_course.exercises.lesson_08_training.parameter_groups.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_lab.training.optimizer import parameter_groups


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


PARAMETER_GROUPS = Exercise(
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
    normalise=in_order,
)
