"""Describe a crash: the exception and the line of the learner's code that raised it."""

import difflib
import linecache
import re
import traceback
from collections.abc import Collection, Sequence

from jaxtyping import TypeCheckError

from transformer_course.running.observation import CrashReport

DTYPES = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "c": "complex", "bool": "bool"}


def describe_crash(error: BaseException, own_files: Collection[str]) -> CrashReport:
    """Describe an exception and the line of the learner's code that raised it.

    Args:
        error: The exception.
        own_files: Names of the files or cells that contain the learner's code.
    """
    if isinstance(error, SyntaxError) and error.filename and error.filename in own_files and error.lineno:
        code = linecache.getline(error.filename, error.lineno).strip()
        return {"type": type(error).__name__, "message": error.msg, "line": error.lineno, "code": code}
    report: CrashReport = {"type": type(error).__name__, "message": message_of(error)}
    if suggestion := _near_attribute(error):
        report["suggestion"] = suggestion
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own_files]
    if lines:
        report |= {"line": lines[-1].lineno, "code": lines[-1].line}
    return report


def _near_attribute(error: BaseException) -> str:
    """Return the existing attribute most similar to a misspelled attribute, or "" if none is similar."""
    if not isinstance(error, AttributeError) or not isinstance(error.name, str):
        return ""
    try:
        names = [name for name in dir(error.obj) if name[:1] == error.name[:1] and not name.startswith("_")]
        return _nearest(error.name, names)
    except Exception:  # inspecting a learner's object may raise an exception
        return ""


def near_method(kind: type, name: str) -> str:
    """Return the method of a class with a similar name, or "" if there is none."""
    return _nearest(name, [other for other in vars(kind) if other != name])


def _nearest(name: str, names: Sequence[str]) -> str:
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.75)), "")


def message_of(error: BaseException) -> str:
    """Return the message of an exception. jaxtyping's long messages are shortened to one line."""
    try:
        return in_one_line(str(error)) if isinstance(error, TypeCheckError) else str(error)
    except BaseException:  # the exception may be of a learner's class whose __str__ raises
        return ""


def in_one_line(message: str) -> str:
    """Shorten jaxtyping's ten-line report on a wrong argument to one line.

    If the format of the report is unknown, return its first line.
    """
    where = re.search(r"(?:parameters|return value) of (\S+)", message)
    argument = re.search(r"typechecking parameter '(\w+)'", message)
    actual = re.search(r"^Actual value: (.+)$", message, re.MULTILINE)
    expected = re.search(r"^Expected type: (.+?)\.?$", message, re.MULTILINE)
    if not (where and actual and expected):
        return message.partition("\n")[0]
    known = dict(re.findall(r"^(\w+)=(\d+)$", message, re.MULTILINE))
    called = [name for name in where[1].split(".") if name not in ("", "forward", "__init__")][-1]
    what = f"{called} takes `{argument[1]}` as" if argument else f"{called} should give back"
    return f"{what} {_wanted(expected[1], known)}; it got {_found(actual[1])}"


def _wanted(kind: str, known: dict[str, str]) -> str:
    def in_words(found: re.Match[str]) -> str:
        names = [name.replace("#", "") for name in found[2].split()]
        sizes = [f"{name}={known[name]}" if name in known else name for name in names]
        return f"a {found[1].lower()} tensor of shape {_shape(sizes)}"

    return re.sub(r"<class '(.*)'>", r"\1", re.sub(r"(?:jaxtyping\.)?(\w+)\[Tensor, '([^']*)'\]", in_words, kind))


def _found(value: str) -> str:
    tensor = re.fullmatch(r"([a-z]+)(\d*)\[([\d,]*)\]\(torch\)", value)
    if not tensor:
        return value
    kind = DTYPES.get(tensor[1], tensor[1])
    return f"{kind}{tensor[2]} of shape {_shape(tensor[3].split(',') if tensor[3] else [])}"


def _shape(sizes: list[str]) -> str:
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"
