"""Types for the observation of one call, which ``observe`` derives from a record and ``checking`` judges.

Observations are plain data, so that they can leave the sandbox.
"""

from typing import Any, NotRequired, TypeAlias, TypedDict, final

from torch import Tensor

from transformer_course.running.plain_data import PlainData

Gradients: TypeAlias = dict[str, PlainData]
"""The gradient of each argument or parameter by name. The value is None if no gradient arrives."""


class CrashReport(TypedDict):
    """An exception: its type, its message and the line of the learner's code that raised it, if there is one.

    If the attempt was stopped by the wall-clock limit, ``computed`` is the CPU time in seconds. For a misspelled
    attribute, ``suggestion`` is a similar name that exists.
    """

    type: str
    message: str
    line: NotRequired[int | None]
    code: NotRequired[str | None]
    computed: NotRequired[float]
    suggestion: NotRequired[str]


class Remarks(TypedDict, total=False):
    """Facts reported to the learner that do not make an answer wrong.

    Attributes:
        seconds: CPU time of the first call.
        differentiable: Whether gradients can flow from the output to the inputs, or None if no input contains floats.
        reads: Notebook variables that the attempt reads.
        unfinished: Notebook functions that the attempt calls although they have no body yet.
        warned: The first line of each warning.
        cuts: Operations in the attempt that block gradients, such as ``detach``.
        backward: torch's error message if computing the gradients failed.
        remembers: Whether a second call returned the tensor of the first call.
        left_stub: Line number of a ``raise NotImplementedError`` left in finished code.
        keeps: Whether the first call stored a value that the second call can use.
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
    """The call raised an exception or exceeded the time limit."""

    error: CrashReport
    remarks: NotRequired[Remarks]


@final
class FunctionObservation(TypedDict):
    """A function was called and returned a value.

    Attributes:
        output: The return value.
        changed: Arguments that the call modified, and ``model.training`` for each model left in a different mode.
        repeatable: Whether a second call with the same arguments returned the same value.
        overwritten: Present and True if a second call wrote into the first call's output.
        own_parameters: If an argument is a model and the output is a list, the number of the model's parameters that a
            gradient step on the returned tensors changes. If the output contains only copies, this number is 0.
        too_large: Inputs from which a larger tensor was computed than the case allows; absent if there are none.
        gradients: Gradients of the arguments that are or contain float tensors.
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
    """A module was built. If its parameters have the expected shapes, they were loaded and the module was called.

    Attributes:
        parameters: The shape of each parameter by name. If the shapes differ from the case's parameters, no other field
            is present.
        output: As for a function, in eval mode; likewise ``changed``, ``repeatable`` and ``gradients``.
        parameter_gradients: Gradients of the parameters.
        frozen: Names of the parameters that require no gradient; absent if there are none.
        output_in_training: The output in train mode.
        later: The outputs of the later calls, in eval mode.
        later_in_training: The outputs of the later calls, in train mode.
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
    """A sampler was called.

    Attributes:
        used_global_generator: Whether the sampler drew from torch's global random number generator.
        changed: As for a function.
        output: The return value, if it is not a vector of tokens.
        range: The smallest and the largest token, if some tokens are outside the vocabulary.
        frequencies: For each row of the input, the fraction of samples for each token.
        n_samples: Number of samples drawn from each row.
        repeatable: Whether the same seed gave the same samples.
        varies_with_seed: Whether a different seed gave different samples.
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
"""The raw results of one call, which ``record`` collects and ``observe`` turns into an observation.

A record has an ``error``, or the fields for one kind of attempt. The record of a function has the ``output`` of the
first call and of a second call (``again``), the arguments after the first call (``left``), the ``versions`` of the
outputs before and after the second call, and the ``gradients``. If an argument is a model, the record also has the
model's parameters after a gradient step on the output (``trained``). For some inputs, the record has the size of the
``largest`` tensor computed from the input. The record of a module has the additional fields of its observation. The
record of a sampler has the ``samples`` of a first call, of a second call with the same seed and of a third call with a
different seed, and torch's ``random_state`` after the first call. Every record also has ``remarks``.
"""
