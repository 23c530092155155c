"""What one call of an attempt shows: ``observe`` reads it off a record, a type for each kind; ``checking`` judges it.

All of it is plain data, so that it can leave the sandbox.
"""

from typing import Any, NotRequired, TypeAlias, TypedDict, final

from torch import Tensor

from transformer_course.running.plain_data import PlainData

Gradients: TypeAlias = dict[str, PlainData]
"""The gradient that reaches each argument or parameter by name; None where none does."""


class CrashReport(TypedDict):
    """An exception: its type, its message, and the line of the learner's own that raised it, where there is one.

    Of an attempt that the clock stopped, ``computed`` says how many seconds it had computed. Of a misspelled
    attribute, ``suggestion`` is the one that was probably meant.
    """

    type: str
    message: str
    line: NotRequired[int | None]
    code: NotRequired[str | None]
    computed: NotRequired[float]
    suggestion: NotRequired[str]


class Remarks(TypedDict, total=False):
    """What is told to the learner, but does not make an answer wrong.

    Attributes:
        seconds: Processor time that the first call took.
        differentiable: Whether a gradient can pass from the output to the inputs; None where no input is a float.
        reads: Data of the notebook that the attempt reads.
        unfinished: Functions of the notebook that the attempt calls and that have no body yet.
        warned: First lines of the warnings.
        cuts: What it uses that cuts gradients, such as ``detach``.
        backward: What torch said when it was to compute the gradients, and could not.
        remembers: Whether a second call returned the tensor of the first, and not one of its own.
        left_stub: Number of the line of a ``raise NotImplementedError`` that was left in code that is written.
        keeps: Whether the first call left something behind that the second can use.
    """

    seconds: float
    differentiable: bool | None
    reads: list[str]
    unfinished: list[str]
    warned: list[str]
    cuts: list[str]
    backward: str
    remembers: bool
    left_stub: int
    keeps: bool


@final
class CrashObservation(TypedDict):
    """The call raised an exception, or took too long."""

    error: CrashReport
    remarks: NotRequired[Remarks]


@final
class FunctionObservation(TypedDict):
    """A function returned.

    Attributes:
        output: What it returned.
        changed: Arguments that the call wrote into, and ``model.training`` of those left in another mode.
        repeatable: Whether a second call with the same arguments returned the same.
        overwritten: Whether a second call wrote into what the first returned; absent if not.
        own_parameters: For an argument that is a model and a list that is returned: number of the model's parameters
            that a gradient step of the returned tensors trains, which it does not if they are copies.
        too_large: Inputs of which a larger tensor was made than the case allows; absent if there are none.
        gradients: Gradients at the arguments that are, or hold, tensors of floats.
        remarks: See ``Remarks``.
    """

    output: PlainData
    changed: list[str]
    repeatable: bool
    overwritten: NotRequired[bool]
    own_parameters: NotRequired[int]
    too_large: NotRequired[list[str]]
    gradients: Gradients
    remarks: NotRequired[Remarks]


@final
class ModuleObservation(TypedDict):
    """A module was built; where its parameters are the expected ones, they were loaded and it was called.

    Attributes:
        parameters: The shape of each parameter by name. If they are not the case's, nothing else is there.
        output: As for a function, in eval mode; so are ``changed``, ``repeatable`` and ``gradients``.
        parameter_gradients: Gradients at the parameters.
        frozen: Names of the parameters that require no gradient; absent if all do.
        output_in_training: The output in train mode.
        later: The outputs of the later calls, in eval mode.
        later_in_training: The same in train mode.
        remarks: See ``Remarks``.
    """

    parameters: dict[str, list[int]]
    output: NotRequired[PlainData]
    changed: NotRequired[list[str]]
    repeatable: NotRequired[bool]
    overwritten: NotRequired[bool]
    own_parameters: NotRequired[int]
    gradients: NotRequired[Gradients]
    parameter_gradients: NotRequired[Gradients]
    frozen: NotRequired[list[str]]
    output_in_training: NotRequired[PlainData]
    later: NotRequired[list[PlainData]]
    later_in_training: NotRequired[list[PlainData]]
    remarks: NotRequired[Remarks]


@final
class SamplerObservation(TypedDict):
    """A sampler was called: ``output`` if that is no vector of tokens, ``range`` if tokens do not exist, or counts.

    Attributes:
        used_global_generator: Whether it drew from torch's global random numbers.
        changed: As for a function.
        output: What it returned.
        range: The smallest and the largest token.
        frequencies: For each row of the input, the fraction of samples that each token has.
        n_samples: Number of samples drawn from each row.
        repeatable: Whether the same seed gave the same samples.
        varies_with_seed: Whether another seed gave others.
        remarks: See ``Remarks``.
    """

    used_global_generator: bool
    changed: list[str]
    output: NotRequired[PlainData]
    range: NotRequired[list[int]]
    frequencies: NotRequired[Tensor]
    n_samples: NotRequired[int]
    repeatable: NotRequired[bool]
    varies_with_seed: NotRequired[bool]
    remarks: NotRequired[Remarks]


Observation: TypeAlias = CrashObservation | FunctionObservation | ModuleObservation | SamplerObservation
Record: TypeAlias = dict[str, Any]
"""What ``record`` writes down of one call, and ``observe`` makes an observation of.

An ``error``; or of a function the ``output`` of the first call and of another one (``again``), its arguments as it
``left`` them, how often its outputs had been written into before the second call and after it (``versions``), the
``gradients``; for a model as argument, its parameters after a gradient step of what was returned (``trained``); the
``largest`` tensors made of some inputs. Of a module, what its observation has as well; of a sampler the ``samples``,
those of the same seed and of another one, and the ``random_state`` of torch after the first call. And the ``remarks``.
"""
