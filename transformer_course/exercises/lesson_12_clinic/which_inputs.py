"""The receptive field: which outputs depend on which inputs."""

import functools
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def which_inputs(model: Callable[[Tensor], Tensor], x: Float[Tensor, "n_in d"]) -> Bool[Tensor, "n_out n_in"]:
    """Return a table of dependencies: entry (i, j) is True if output i changes with input j."""
    before = model(x)
    columns = []
    for position in range(len(x)):
        changed = x.clone()
        changed[position] = torch.randn_like(x[position])  # random, because a norm may undo a constant shift
        columns.append((model(changed) - before).abs().amax(dim=-1) > 1e-5)
    return torch.stack(columns, dim=1)


def before(model, x):
    """run the model on x unchanged → the outputs for x unchanged"""
    return model(x)


def positions(x):
    """go through all positions of x → the positions of x"""
    return range(len(x))


def copy(x):
    """make a fresh copy of x for each position → the fresh copy of x"""
    return x.clone


def place():
    """change the vector at one position → the index that is changed: one position"""
    return lambda position: position


def another():
    """draw a random vector → the new vector: random numbers"""
    return functools.partial(_draw, torch.Generator().manual_seed(0))  # the same random numbers for every mistake


def _draw(generator, vector):
    return torch.randn(vector.shape, generator=generator)


def change(copy, place, another):
    """write the new vector into the copy → x with one position changed"""

    def changed(position):
        x, where = copy(), place(position)
        x[where] = another(x[where])
        return x

    return changed


def differences():
    """subtract the original outputs → the differences, (n_out, d_out)"""
    return lambda after, before: after - before


def size():
    """take the largest difference of each output → the size of each change: the largest difference of an output"""
    return lambda differences: differences.abs().amax(dim=-1)


def moved():
    """compare the change with a rounding error → the test for a change: larger than rounding error"""
    return lambda sizes: sizes > 1e-5


def columns(model, before, positions, change, differences, size, moved):
    """run the model after each change and compare the outputs → the columns: True for each changed output"""
    return [moved(size(differences(model(change(position)), before))) for position in positions]


def table(columns):
    """stack the columns along dim 1 → the table: one row per output, one column per input"""
    return torch.stack(columns, dim=1)


STEPS = InSteps(
    before, positions, copy, place, another, change, differences, size, moved, columns, table, reference=which_inputs
)


SMALL_DEPENDENCE = 2.0**-8


def which_inputs_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def exact(*shape: int) -> Tensor:
        """Draw nonzero numbers whose products and sums are exact, so that terms that cancel give exactly 0."""
        numbers = 0.25 + (4 * normal(rng, *shape).abs()).round() / 4
        return torch.where(torch.rand(shape, generator=rng) < 0.5, -numbers, numbers)

    def case(
        n_out: int,
        n_in: int,
        d: int,
        d_out: int,
        shows: str,
        *,
        depends: Tensor | None = None,
        size: float = 1.0,
        zeros: tuple[int, ...] = (),
        centered: bool = False,
        cancels: bool = False,
        unused: int | None = None,
        silent: int | None = None,
        alike: bool = False,
    ) -> Case:
        """Return a case whose model has the given dependencies between outputs and inputs.

        Args:
            n_out: Number of outputs.
            n_in: Number of inputs.
            d: Width of an input.
            d_out: Width of an output.
            shows: Label of the case.
            depends: Boolean table with a row per output and a column per input, or None for a random table.
            size: Factor that scales every dependency.
            zeros: Indices of the inputs that are 0.
            centered: Whether adding a constant to all numbers of an input has no effect, as before a norm.
            cancels: Whether the numbers of an output sum to 0, as after a norm.
            unused: Index of an input feature that the model ignores.
            silent: Index of an output feature that is always 0.
            alike: Whether all numbers of an input are equal.
        """
        if depends is None:
            depends = torch.rand(n_out, n_in, generator=rng) < 0.5
            depends[int(torch.randint(n_out, (), generator=rng))] = True
        projection = exact(d, d_out)
        if unused is not None:
            projection[unused] = 0.0
        if silent is not None:
            projection[:, silent] = 0.0
        if centered:
            projection[-1] = -projection[:-1].sum(dim=0)
        if cancels:
            projection[:, -1] = -projection[:, :-1].sum(dim=1)
        x = exact(n_in, d)
        x[list(zeros)] = 0.0
        if alike:
            x[:] = x[:, :1].clone()
        mixing = exact(n_out, n_in)
        mixing = size * depends * (mixing + mixing.sign())
        model = describe_model("position_mixer", mixing=mixing, projection=projection)
        return Case({"model": model, "x": x}, shows)

    first = torch.tensor([[True, False]])
    return [
        case(1, 2, 2, 3, "one output that depends on the first of two inputs", depends=first),
        case(3, 3, 2, 2, "3 inputs, 3 outputs"),
        case(4, 4, 3, 5, "a causal model of 4 positions", depends=torch.ones(4, 4).tril().bool()),
        case(
            4, 4, 3, 2, "a model of 4 positions that depend only on later ones", depends=torch.ones(4, 4).triu(1).bool()
        ),
        case(2, 5, 3, 4, "5 inputs, 2 outputs"),
        case(6, 3, 4, 3, "3 inputs, 6 outputs"),
        case(4, 4, 3, 4, "the first feature of an input is not used", unused=0),
        case(5, 4, 3, 4, "the last feature of an input is not used", unused=-1),
        case(4, 5, 3, 4, "the first feature of an output is always 0", silent=0),
        case(3, 5, 4, 3, "the last feature of an output is always 0", silent=-1),
        case(4, 5, 4, 6, "outputs that always add up to 0", cancels=True),
        case(5, 4, 5, 4, "a shift of a whole input changes nothing", centered=True),
        case(4, 5, 4, 5, "a shift of an input changes nothing, and its features are equal", centered=True, alike=True),
        case(4, 6, 4, 5, "inputs of zeros", zeros=(0, 2, 5)),
        case(5, 6, 3, 4, "outputs that depend only slightly on their inputs", size=SMALL_DEPENDENCE),
        case(7, 8, 5, 6, "8 inputs, 7 outputs, which add up to 0", cancels=True, centered=True),
    ]


def one_copy_for_all(x):
    return functools.partial(torch.Tensor.view_as, once := x.clone(), once)  # all calls share this copy


def threshold(smallest):
    return lambda: lambda sizes: sizes > smallest


MISTAKES = [
    Mistake(
        "adds_the_same_to_all",
        STEPS.but(another=lambda: lambda vector: vector + 1),
        summary="you add the same number to every feature of an input",
        message=(
            "{summary}. A norm removes such a shift, so you miss the dependence on this input. Which change survives a "
            "norm?"
        ),
        hints=[
            "What does LayerNorm return for x, and for x + 1?",
            "Replace the vector with one that is not a shifted or scaled copy of it.",
            "`changed[position] = torch.randn_like(x[position])`.",
        ],
    ),
    Mistake(
        "made_of_what_was_there",
        STEPS.but(another=lambda: lambda vector: 0 * vector),
        STEPS.but(another=lambda: lambda vector: 2 * vector),
        summary="you multiply the old input by a number, such as 0 or 2",
        message=(
            "{summary}, so an input of zeros, such as the embedding of padding, doesn't change at all. Which new "
            "vector doesn't depend on the old one?"
        ),
        hints=[
            "What is 2 · 0? And what does LayerNorm return for x and for 2x?",
            "Replace the vector with one that does not depend on it.",
            "`changed[position] = torch.randn_like(x[position])`.",
        ],
    ),
    Mistake(
        "the_other_axis_changed",
        STEPS.but(place=lambda: lambda position: (slice(None), position), positions=lambda x: range(x.shape[1])),
        summary="you change one feature of all inputs instead of one input",
        message=(
            "{summary}, so you can't tell which input an output depends on. `x` has shape (n_in, d). Which dimension "
            "should you index?"
        ),
        hints=[
            "What does `x[:, 0]` select, and what does `x[0]` select?",
            "Change the vector at one position, which is one row of x.",
            "`changed[position] = …`, with a position from `range(len(x))`.",
        ],
    ),
    Mistake(
        "changes_pile_up",
        STEPS.but(copy=one_copy_for_all),
        summary="you keep the changes to all earlier inputs",
        message=(
            "{summary}, so when an output changes, you can't tell which of these inputs it depends on. Where should "
            "you copy x?"
        ),
        hints=[
            "Print the changed x and the original x in each iteration. At how many positions do they differ?",
            "Each iteration needs a fresh copy of x, in which only one position changes.",
            "Move `x.clone()` into the loop.",
        ],
    ),
    Mistake(
        "writes_into_x",
        STEPS.but(copy=lambda x: lambda: x),
        summary="you change `x` itself instead of a copy",
        message=(
            "{summary}, so the change also affects the later positions and the caller's tensor. Which method copies a "
            "tensor?"
        ),
        hints=[
            "Print `x` before and after you call your function. Is it the same?",
            "`b = a` makes no copy: both names refer to the same tensor.",
            "Call `x.clone()` in each iteration, and change the copy.",
        ],
    ),
    Mistake(
        "sums_of_the_outputs",
        STEPS.but(size=lambda: lambda differences: differences.sum(dim=-1).abs()),
        STEPS.but(size=lambda: lambda differences: differences.mean(dim=-1).abs()),
        summary="you sum the features of an output with their signs",
        message=(
            "{summary}, so changes of +1 and −1 cancel. If the sum is constant, as after a norm, you find no "
            "dependence at all. Which reduction keeps a change in any feature?"
        ),
        hints=[
            "The two features of an output change by +1 and −1. What is the sum of the changes?",
            "An output depends on an input if *any* of its features changes.",
            "`(model(changed) - before).abs().amax(dim=-1)` has the largest change of each output.",
        ],
    ),
    Mistake(
        "one_answer_for_all_outputs",
        STEPS.but(size=lambda: lambda differences: differences.abs().max(), table=lambda columns: torch.stack(columns)),
        summary="you return one answer for all outputs together",
        message=(
            "For each input, {summary}, so you can't tell which output depends on that input. Which dimensions should "
            "the maximum run over?"
        ),
        hints=[
            "Which shape should the table have, and which shape does yours have?",
            "Take the largest change over the features of an output, and keep the outputs separate.",
            "`.amax(dim=-1)` keeps one number for each output.",
        ],
    ),
    Mistake(
        "assumes_causality",
        STEPS.but(table=lambda table: table.tril()),
        summary="you set every entry above the diagonal to False",
        message=(
            "{summary}, as if no output could depend on a later input. A model that leaks the future then looks "
            "causal. Should you measure that or assume it?"
        ),
        hints=[
            "One of the models depends only on *later* inputs. What does your table show for it?",
            "Fill the table only with what you measure.",
            "Remove the triangular mask.",
        ],
    ),
    Mistake(
        "threshold_too_high",
        *[STEPS.but(moved=threshold(smallest)) for smallest in (0.1, 0.05)],
        summary="you count only large changes of an output",
        message=(
            "{summary}, so you miss weak dependences. Any change larger than rounding error counts. How large is the "
            "rounding error of a float32 number near 1?"
        ),
        hints=[
            "An output changes by 0.004. Does it depend on the input? What does your table show?",
            "float32 has about 7 digits, so rounding errors are near 10⁻⁷ for numbers near 1.",
            "Compare the change with 1e-5.",
        ],
    ),
]


EXERCISE = Exercise(
    reference=which_inputs,
    steps=STEPS,
    cases=which_inputs_cases,
    points=4,
    stretch=True,
    verified="You find every dependence, including small ones and those that cancel in a sum.",
    hints=[
        "As in the leak test of lesson 04: if you change the input at position 2, how do you find out which outputs "
        "depend on it?",
        "Run the model once on x. Then change the vector at one position in a copy of x and run the model again. The "
        "outputs that change depend on this position: that is one column of the table.",
        "The change must survive a norm, which removes a shift by 1 and a factor of 2. `torch.randn_like` is safe. "
        "Each output is a vector: take its largest difference, because a sum may cancel.",
        "`(model(changed) - before).abs().amax(dim=-1) > 1e-5` is one column, and `torch.stack(columns, dim=1)` joins "
        "them.",
    ],
    mistakes=MISTAKES,
)
