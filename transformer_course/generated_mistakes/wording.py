"""Say a generated mistake: a clause about its step, and the question that begins its hints.

Nothing is written for an exercise: nouns and imperatives are those of its steps, the rest is the kind of the generated
mistake. What is said is true of how the attempt behaves; what stands in it may look quite otherwise, so no code is
quoted.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from transformer_course.generated_mistakes.code_differences import (
    compared_in,
    comparison_of,
    counts_of,
    function_of,
    has_minus,
    length_of,
    missing_argument,
    new_axes_of,
    operands_of,
    parts_of,
)
from transformer_course.steps import InSteps, needs

if TYPE_CHECKING:
    from transformer_course.generated_mistakes.generated_mistake import AnswerEdit

AXES = {
    "-1": "the last axis", "-2": "the second-to-last axis", "-3": "the third axis from the end",
    "0": "the first axis", "1": "the second axis", "2": "the third axis",
    "(-2, -1)": "the last two axes together",
}  # fmt: skip
TAKES = {
    "sum": "the sum", "mean": "the mean", "amax": "the largest", "amin": "the smallest", "max": "the larger",
    "min": "the smaller", "maximum": "the larger", "minimum": "the smaller", "prod": "the product",
    "norm": "the length", "std": "the standard deviation", "var": "the variance", "cumsum": "the running sum",
    "softmax": "a softmax", "log_softmax": "a log-softmax", "sigmoid": "a sigmoid", "square": "the square",
    "abs": "the absolute value", "sqrt": "the root", "rsqrt": "one over the root", "exp": "the exponential",
    "exp2": "a power of 2", "expm1": "the exponential minus 1", "log": "the logarithm",
    "log2": "the logarithm to base 2", "log10": "the logarithm to base 10", "tril": "the lower triangle",
    "triu": "the upper triangle", "sin": "the sine", "cos": "the cosine", "argmax": "the place of the largest",
    "argmin": "the place of the smallest", "all": "*all*", "any": "*any*",
    "logsumexp": "the log of the sum of exponentials", "relu": "a ReLU", "gelu": "a GELU", "silu": "a SiLU",
    "tanh": "a tanh", "logsigmoid": "a log-sigmoid", "reciprocal": "one over it", "ceil": "rounding up",
    "floor": "rounding down", "repeat": "the whole repeated", "repeat_interleave": "each one repeated",
    "log1p": "the logarithm of 1 plus it", "argsort": "the order",
}  # fmt: skip
VERBS = {
    "Add": "adds", "Sub": "subtracts", "Mult": "multiplies", "Div": "divides", "FloorDiv": "divides and rounds down",
    "MatMult": "multiplies matrices", "Pow": "takes a power", "Mod": "takes the remainder",
    "BitAnd": "joins by *and*", "BitOr": "joins by *or*",
}  # fmt: skip
APPLIED = {
    "abs": "loses its sign", "relu": "has 0 in place of its negative numbers", "square": "is squared",
    "sqrt": "has its root taken", "softmax": "goes through a softmax",
}  # fmt: skip
PLURALS = {
    **{"loses its": "lose their", "has its": "have their", "has ": "have ", "is ": "are ", "goes ": "go "},
    " its ": " their ",
}
SIZES = (
    *(("/ 2", "half"), ("* 2", "twice"), ("// 2", "half")),
    ("/ §.shape[-1]", "divided by how many there are in a row"),
)
DTYPES = {"float": "floats", "long": "whole numbers", "int": "whole numbers", "double": "float64"}
KINDS = {
    **{"as_a_list": "a list", "as_an_array": "a NumPy array", "as_a_number": "a plain Python number"},
    "in_a_tuple": "a tuple",
}


JOINS = {
    ("stack", "cat"): "stacks along a new axis where it should join along one that is there",
    ("cat", "stack"): "joins along an axis that is there where it should stack along a new one",
    ("ones", "zeros"): "begins with ones where zeros belong",
}
NOT_DONE = {
    **dict.fromkeys(("flatten", "reshape"), "no axes are joined in {}"),
    **dict.fromkeys(("transpose", "swapaxes"), "nothing is transposed in {}"),
    "masked_fill": "nothing is filled in where the mask says so in {}", "clamp": "nothing is clamped in {}",
    "unsqueeze": "in {}, an axis of length 1 is missing",
}  # fmt: skip
TURNED = {"Div": "divided by", "FloorDiv": "divided by", "Mod": "divided by"}


class Words(NamedTuple):
    """What is said of a generated mistake: a clause, true whatever else is wrong, and a question."""

    summary: str
    question: str


def words(steps: InSteps, edit: "AnswerEdit") -> Words:
    """Return what is said of a generated mistake."""
    teller = _Teller(steps, edit)
    summary, question = teller.of_argument() if edit.step not in steps.steps else teller.of_step()
    return Words(_without_lost_commas(summary + teller.circumstances), _without_lost_commas(question))


def is_plural(noun: str) -> bool:
    """Return whether a noun of English, with what follows it, is a plural."""
    noun = re.sub(r"`(\w+)` (?=\w+s\b)", "", noun)
    head = re.split(
        r"(?<=s) \w+ed\b| (?:of|that|in|on|for|to|by|from|where|after|before|with|as|is|at|along)\b|[,`(]", noun
    )[0].split()[-1:]
    return (
        bool(head)
        and not noun.startswith("what ")
        and (head[0].endswith("s") or noun.startswith("all the "))
        and not head[0].endswith(("ss", "axis", "bias", "is"))
    )


class _Teller:
    """What is said of one generated mistake; ``step`` is its step in quotes, ``noun`` what should come of it."""

    def __init__(self, steps: InSteps, edit: "AnswerEdit") -> None:
        self.steps, self.edit = steps, edit
        self.step, self.noun = self.named(edit.step), self.short(edit.step)
        self.old, self.new = self.value(edit.old), self.value(edit.new)
        self.is_, self.has = ("are", "have") if is_plural(self.noun) else ("is", "has")

    def named(self, name: str) -> str:
        return f"the step “{self.steps.describe(name)}”" if name in self.steps.steps else f"`{name}`"

    def short(self, name: str) -> str:
        """Return the noun of a value, without what explains it further if that is not needed to tell it from others.

        What is told as a question, such as whether a text is finished, is the result of its step.
        """
        full = self.steps.noun(name)
        if full.startswith(("which ", "whether ", "how ")):
            return f"the result of “{self.steps.describe(name).partition(':')[0]}”"
        brief = _brief(full)
        others = {_brief(self.steps.noun(one)) for one in self.steps.steps if one != name}
        if brief not in others and brief.removeprefix("the ") not in self.steps.arguments.parameters:
            return brief
        return f"{full}," if ", " in full else full  # what explains it ends there

    def value(self, code: str) -> str:
        return self.short(code) if code in self.steps.known else ""

    @property
    def by_hand(self) -> str:
        if self.noun.startswith(("what ", "the function ")):
            return f"Work a small case out by hand: what should come out of {self.step}, and what does?"
        return f"Work a small case out by hand: what should {self.noun} be, and what does the code give?"

    @property
    def made(self) -> str:
        """What comes of the step, as it can be asked for."""
        return f"the result of {self.step}" if self.noun.startswith("what ") else self.noun

    @property
    def shape(self) -> str:
        if self.noun.startswith("the function "):
            return "Which shape should the function return? Which shape comes out?"
        return f"Which shape should {self.made} have? Which shape is there?"

    @property
    def circumstances(self) -> str:
        """Where else the generated mistake is made, or only where."""
        edit = self.edit
        text = edit.code.get(edit.step, "") if isinstance(edit.code, dict) else ""
        if given := re.match(r"if (\w+) is None:\n", text):
            return f", where `{given[1]}` is given"
        if edit.other not in self.steps.steps or edit.kind in TELL_THE_OTHER:
            return ""
        return (
            f", and the same goes for {self.named(edit.other)}"
            if len(edit.code) > 1
            else f", and {self.named(edit.other)} is left out"
        )

    def of_argument(self) -> tuple[str, str]:
        name, kind = self.edit.step, self.edit.kind
        where = f"Where does `{name}` come into the formula? Is it used there as it comes in?"
        if kind == "ignored":
            return f"`{name}` has no effect", f"What should change in the result where `{name}` changes?"
        if kind in ("argument_for_another", "values_exchanged"):
            exchanged = kind == "values_exchanged"
            summary = (
                f"`{name}` and {self.new} have changed places"
                if exchanged
                else f"`{self.edit.new}` is used where `{name}` belongs"
            )
            return summary, f"What is `{name}` for, and what {self.new}?"
        summary, _ = self.of_step()
        if kind == "scaled":
            summary = re.sub("twice what it should be", "doubled", re.sub("half what it should be", "halved", summary))
        return (f"{summary} before it is used" if kind in ("function", "transposed", "scaled") else summary), where

    def of_step(self) -> tuple[str, str]:
        made = OF_KIND.get(self.edit.kind)
        return made(self) if made else (f"{self.step} is done in another way", self.by_hand)

    # What the step is fed with, and when it is taken

    def left_out(self) -> tuple[str, str]:
        code = self.steps.expression(self.edit.step) or ""
        if re.fullmatch(r"\w+ [+&|] \w+", code) and (missing := self._missing(code)):
            verb = "are" if is_plural(missing) else "is"
            return f"{missing} {verb} left out of {self.step}", f"What goes into {self.made}?"
        uses = [need for need in needs(self.steps.steps[self.edit.step]) if need != "self"]
        if self.edit.new in uses[:1] or len(uses) == 1:
            return f"{self.step} is left out", f"What is {self.step} for? What is missing from the result without it?"
        return self.taken_for()

    def taken_for(self) -> tuple[str, str]:
        verb, they_were = ("are", "they were") if is_plural(self.new) else ("is", "it were")
        as_if = f"as if {they_were}" if is_plural(self.new) == is_plural(self.noun) else "in place of"
        summary = f"{self.new} {verb} used {as_if} {self.noun}"
        return summary, f"Which step leads from {self.new} to {self.noun}?"

    def wrong_input(self) -> tuple[str, str]:
        if self.edit.old in self.steps.arguments.parameters and self._is_constant(self.edit.new):
            return (
                f"{self.old} has no effect in {self.step}",
                f"What should change in this step where {self.old} changes?",
            )
        if f"{self.edit.old}.shape[" in (self.steps.expression(self.edit.step) or ""):
            question = "Which axis of which tensor has the length that is wanted?"
            return f"{self.step} takes a length of {self.new}, not of {self.old}", question
        verb, belong = "are" if is_plural(self.new) else "is", "belong" if is_plural(self.old) else "belongs"
        return (
            f"in {self.step}, {self.new} {verb} used where {self.old} {belong}",
            f"Which of the two belongs in this step: {self.old}, or {self.new}?",
        )

    def _is_constant(self, name: str) -> bool:
        return name in self.steps.steps and not needs(self.steps.steps[name])

    def exchanged(self) -> tuple[str, str]:
        one, two = self.old, self.new
        if self.edit.kind == "steps_exchanged":
            one, two = self.noun, self.short(self.edit.other)
        inside = f"in {self.step}, " if self.edit.kind == "inputs_exchanged" else ""
        return f"{inside}{one} and {two} have changed places", f"What is done with {one}, and what with {two}?"

    def parts(self) -> tuple[str, str]:
        """Say which parts: those of the value where the whole step makes them, else two values in it."""
        name = self.edit.step
        is_whole = self.edit.old in ("", name) or self.edit.old == self.steps.expression(name)
        one_twice = len(set(parts_of(self.edit.new))) == 1
        if not is_whole:
            summary = "stands in two places" if one_twice else "have changed places"
            question = "Which value belongs in which place?"
            return f"in {self.step}, {'one value' if one_twice else 'two values'} {summary}", question
        summary = (
            f"one part of {self.noun} stands in both places"
            if one_twice
            else f"the parts of {self.noun} have changed places"
        )
        return summary, f"What are the parts of {self.noun}, and in which order do they stand?"

    def layers(self) -> tuple[str, str]:
        old, new, question = self.edit.old, self.edit.new, "Which input goes into which layer?"
        if self.edit.kind == "layers_exchanged":
            return f"the layers `{old}` and `{new}` have changed places", question
        if old.startswith("n_"):  # as `n_heads`
            return (
                f"{self.noun} {self.is_} made with the number `{new}`, not with `{old}`",
                "What do the numbers count?",
            )
        return f"{self.noun} {self.is_} made by the layer `{new}`, not by `{old}`", question

    def moved(self) -> tuple[str, str]:
        target = self.edit.new if self.edit.new in self.steps.known else self.edit.other
        if self.edit.kind == "done_again":
            return (
                f"{self.step} is done twice: to {self.short(target)} as well",
                "How often is it done on the way to the result?",
            )
        order = list(self.steps.steps)
        served = [name for name in order if self.edit.step in needs(self.steps.steps[name])]
        if target in served and len(served) > 1:
            return f"{self.step} is done for {self.short(target)} alone", "Which values does the next step need?"
        late = order.index(self.edit.other) > order.index(self.edit.step)
        when = f"comes too {'late' if late else 'early'}, and is done to {self.short(target)} instead of {self.old}"
        return f"{self.step} {when}", "In which order do the steps come?"

    def added(self) -> tuple[str, str]:
        verb = "are" if is_plural(self.new) else "is"
        return f"{self.new} {verb} added to {self.noun}", "Is there a term that is not in the formula?"

    def as_well(self) -> tuple[str, str]:
        verb = "are" if is_plural(self.new) else "is"
        return f"{self.new} {verb} returned as well", "What is asked for: one value, or several?"

    # Axes and shapes

    def axis(self) -> tuple[str, str]:
        return self._along(self.edit.new, self.edit.old)

    def _along(self, new: str, old: str) -> tuple[str, str]:
        question = f"Along which axis lie the numbers that belong together in this step? {self.shape}"
        new, old = _axis(new), _axis(old)
        if self.edit.kind == "all_axes" or not new:
            return f"{self.step} runs over all axes at once", question
        return f"{self.step} runs along {new}" + (f", not along {old}" if old else ""), question

    def keepdim(self) -> tuple[str, str]:
        return (
            f"{self.step} drops the axis along which it runs",
            f"{self.shape} How does that line up with what it meets next?",
        )

    def product(self) -> tuple[str, str]:
        return (
            f"the product in {self.step} pairs the wrong axes",
            f"Which axes should meet in this product? {self.shape}",
        )

    def axes(self) -> tuple[str, str]:
        if self.edit.kind == "not_transposed":
            return f"nothing is transposed in {self.step}", self.shape
        if self.edit.kind == "transposed":
            return f"rows and columns of {self.noun} have changed places", self.shape
        return f"{self.step} moves or joins the wrong axes", self.shape

    def length(self) -> tuple[str, str]:
        if self.edit.kind == "fixed":
            return (
                f"{self.step} takes a fixed number for a length",
                "Which length should it be, whatever the size of the input?",
            )
        (tensor, place), (should, should_place) = (length_of(code) for code in (self.edit.new, self.edit.old))
        if place == should_place and tensor != should:
            summary = (
                f"takes a length of another tensor, not of {self.value(should)}"
                if self.value(should)
                else "takes a length of the wrong tensor"
            )
            return f"{self.step} {summary}", "Which axis of which tensor has the length that is wanted?"
        return (
            f"{self.step} takes the length of the wrong axis",
            "Which axis of which tensor has the length that is wanted?",
        )

    def one_axis_more(self) -> tuple[str, str]:
        if self.edit.kind == "squeezed":
            return f"axes of length 1 are lost in {self.noun}", self.shape
        more = "one axis more" if self.edit.kind == "one_axis_more" else "fewer axes"
        return f"{self.noun} {self.has} {more} than asked for", self.shape

    # Which function, which number

    def sibling(self) -> tuple[str, str]:
        new, old = function_of(self.edit.new, self.edit.old), function_of(self.edit.old, self.edit.new)
        if new in TAKES and old in TAKES:
            return f"{self.step} takes {TAKES[new]} where {TAKES[old]} belongs", self.by_hand
        if (new, old) in JOINS:
            return f"{self.step} {JOINS[new, old]}", self.shape
        return f"{self.step} uses another function", self.by_hand

    def operator(self) -> tuple[str, str]:
        new, old = (operands_of(code)[0] for code in (self.edit.new, self.edit.old))
        if new not in VERBS or old not in VERBS:
            return f"{self.step} is done with another operation", self.by_hand
        first, _, rest = VERBS[old].partition(" ")
        should = f"{re.sub('ies$', 'y', first).removesuffix('s')} {rest}".strip()
        return f"{self.step} {VERBS[new]} where it should {should}", self.by_hand

    def order(self) -> tuple[str, str]:
        if self.edit.old.endswith(")") and not self.edit.old.startswith("("):
            question = "In which order does the function that is called here take its arguments?"
            return f"two arguments in {self.step} are in the wrong order", question
        question = f"Which of the two comes first? {self.by_hand}"
        sign, first, second = operands_of(self.edit.new)
        one, other = self.value(first), self.value(second)
        if sign in TURNED and one and other:
            verb = "are" if is_plural(one) else "is"
            return f"in {self.step}, {one} {verb} {TURNED[sign]} {other}, not the other way round", question
        if sign == "Sub" and one and other:
            verb = "are" if is_plural(other) else "is"
            return f"in {self.step}, {other} {verb} subtracted from {one}, not the other way round", question
        if sign == "Pow":
            return f"base and exponent have changed places in {self.step}", question
        if sign == "MatMult":
            return f"the two factors of the product in {self.step} are the wrong way round", self.shape
        return f"the two sides of {self.step} are the wrong way round", question

    def part(self) -> tuple[str, str]:
        sign, first, _ = operands_of(self.edit.old)
        is_whole = self.edit.old == self.steps.expression(self.edit.step)
        if is_whole and self.edit.new == first in self.steps.known and sign in ("Sub", "Div", "FloorDiv", "Mod"):
            return f"{self.step} is left out", f"What is {self.step} for? What is missing from the result without it?"
        if missing := self._missing(self.edit.old):
            return (
                f"{missing} {'are' if is_plural(missing) else 'is'} left out of {self.step}",
                f"What goes into {self.made}?",
            )
        called = self.edit.old.partition("(")[0]
        if self.edit.kind == "call_left_out" and called in self.steps.steps:
            step = self.named(called)
            return f"{step} is left out", f"What is {step} for? What is missing from the result without it?"
        if self.edit.kind == "call_left_out" and self._is_all_of_it():
            return f"{self.step} is left out", f"What is {self.step} for? What is missing from the result without it?"
        if message := self._not_done():
            return message, f"What goes into {self.made}? Is all of it there?"
        if self.new and self.edit.kind == "call_left_out":
            as_it_is = "are used as they are" if is_plural(self.new) else "is used as it is"
            summary = f"in {self.step}, {self.new} {as_it_is}, and a call is missing"
            return summary, f"What should be done with {self.new} first?"
        if self.new:
            verb = "are" if is_plural(self.new) else "is"
            return f"part of {self.step} is missing: only {self.new} {verb} left", f"What else goes into {self.made}?"
        return f"part of {self.step} is missing", f"What goes into {self.made}? Is all of it there?"

    def _not_done(self) -> str:
        """Return a clause about the number, the part or the function that is left out; "" where it has no name."""
        new, old = self.edit.new, self.edit.old
        sign, first, second = operands_of(old)
        if sign == "Pow" and new == first:
            return f"{'no root' if second == '0.5' else 'no power'} is taken in {self.step}"
        number = second if new == first else first if new == second else ""
        if re.fullmatch(r"\d[\d.]*", number):
            return f"the {number} is left out of {self.step}"
        if new == "§[0]":
            return f"only the first part of {self.noun} is left"
        if self.edit.kind == "part_left_out" and len(set(parts_of(new))) == 1:
            return f"in {self.step}, one of the two parts stands in both places"
        function = function_of(old, new)
        if function in NOT_DONE:
            return NOT_DONE[function].format(self.step)
        if self.edit.kind == "call_left_out" and function in ("len", "range"):
            it = self.new or "a value"
            return f"in {self.step}, {it} stands where {'its length' if function == 'len' else 'a range'} belongs"
        if self.edit.kind == "call_left_out" and (taken := TAKES.get(function, "")).startswith(("a ", "the ")):
            taken = f"no {taken[2:]} is taken" if taken.startswith("a ") else f"{taken} is not taken"
            return f"{taken} in {self.step}"
        return ""

    def _missing(self, code: str) -> str:
        """Return the one of two operands that is left out, where it is a value."""
        operator, *sides = operands_of(code)
        sides = sides if operator else parts_of(code)
        left = [side for side in sides if side not in (self.edit.new, f"-({self.edit.new})")]
        names = dict.fromkeys(re.findall(r"(?<![.\w])[a-z_]\w*", left[0])) if len(left) == 1 and len(sides) == 2 else {}
        asked = [name for name in names if name in self.steps.known]
        return self.short(asked[0]) if len(asked) == 1 and not re.search(rf"\b{asked[0]}\b", self.edit.new) else ""

    def _is_all_of_it(self) -> bool:
        """Return whether the code that is left out is the whole step, so that what it works on comes out."""
        found = re.search(r"(?:^|return )(?:lambda ([\w, ]*): )?(\w+)$", self.edit.code.get(self.edit.step, ""))
        return found is not None and (found[2] in self.steps.known or found[2] in (found[1] or "").split(", "))

    def brackets(self) -> tuple[str, str]:
        return (
            f"{self.step} is done to one term only, as where brackets are missing",
            "What is 8 - 6 / 2 in Python? Which operation comes first?",
        )

    def terms(self) -> tuple[str, str]:
        return f"the terms of {self.noun} are mixed up, or one has the wrong sign", self.by_hand

    def power(self) -> tuple[str, str]:
        new, old = self.edit.new, self.edit.old
        if re.search(r"\*\* -?1$", new) and re.search(r"0\.5$", old):
            return f"no root is taken in {self.step}", f"What should {self.noun} be for 4, and for 16?"
        if re.search(r"\*\* \(-\(", new):
            return f"{self.step} takes one over what it should, or the other way round", self.by_hand
        return f"{self.step} takes the wrong power or root", f"What should {self.noun} be for 4, and for 16?"

    def comparison(self) -> tuple[str, str]:
        new, old = (comparison_of(code) for code in (self.edit.new, self.edit.old))
        question = f"What should {self.noun} be where the two sides are equal, and on either side of that?"
        if " is " in new:
            given = self.value(compared_in(self.edit.old)) or "a value"
            question = f"What should be done with {given}, and what where there is none?"
            return f"in {self.step}, the cases with and without {given} have changed places", question
        if new.strip("=") == old.strip("=") and new != old and "!" not in new + old:
            return f"{self.step} goes wrong where the two sides are equal", question
        return f"{self.step} compares the wrong way round", question

    def inverted(self) -> tuple[str, str]:
        if "masked_fill" in self.edit.new:
            return (
                f"in {self.step}, what should be hidden is shown and the rest is hidden",
                "What does True mean in the mask here?",
            )
        return f"True and False are the wrong way round in {self.step}", f"What does True mean in {self.noun}?"

    def turned_off(self) -> tuple[str, str]:
        written = self.edit.code.get(self.edit.step, "")
        if self.edit.new == "False" and "keepdim=False" in written:
            return self.keepdim()
        if {self.edit.new, self.edit.old} == {"True", "False"} and f"={self.edit.new}" not in written:
            return f"in {self.step}, {self.edit.new} stands where {self.edit.old} belongs", self.by_hand
        if "keepdim=" in self.edit.old and "keepdim=True" not in self.edit.new:
            return self.keepdim()
        if "dtype=" in self.edit.old and "dtype=" not in self.edit.new:
            return self.dtype()
        if self.edit.kind == "option_left_out" and self.edit.old.count("=") == self.edit.new.count("="):
            missing = self.value(missing_argument(self.edit.old, self.edit.new))
            verb = "are" if is_plural(missing or "it") else "is"
            return (
                f"{missing} {verb} left out of {self.step}" if missing else f"an argument is missing in {self.step}",
                "Which arguments does the function need that is called here?",
            )
        is_set = {self.edit.new, self.edit.old} == {"True", "False"}
        message = "set the other way" if is_set else "missing"
        return f"an option in {self.step} is {message}", "What does each option of this call do?"

    def always_one(self) -> tuple[str, str]:
        return f"in {self.step}, the same is done in both cases", "When should each of the two cases be taken?"

    def number(self) -> tuple[str, str]:
        new, old = self.edit.new, self.edit.old
        code = self.edit.code.get(self.edit.step, "")
        right = self.steps.expression(self.edit.step) or self.steps.code(self.edit.step)
        if has_minus(old, right, code):
            new, old = new.removeprefix("-") if new.startswith("-") or new == "0" else f"-{new}", f"-{old}"
        if _axis(new) and _axis(old) and f"dim={new}" in code and code.count(f"dim={old}") < right.count(f"dim={old}"):
            return self._along(new, old)
        if f".shape[{new}]" in code and code.count(f".shape[{old}]") < right.count(f".shape[{old}]"):
            return f"{self.step} takes the length of the wrong axis", "Which axis has the length that is wanted?"
        if re.fullmatch(r"-?\d[\d.e-]*", new) and re.fullmatch(r"-?\d[\d.e-]*", old):
            return f"in {self.step}, {new} stands where {old} belongs", self.by_hand
        return f"a number in {self.step} is not the right one", self.by_hand

    def mean_by(self) -> tuple[str, str]:
        return f"the sum in {self.step} is divided by the wrong count", "How many numbers are added up?"

    def absolute(self) -> tuple[str, str]:
        return (
            f"absolute values are taken in {self.step}",
            f"What should become of a negative number on the way to {self.noun}?",
        )

    def of_numbers(self) -> tuple[str, str]:
        return (
            f"{self.step} uses a function of Python's that takes one number and no tensor",
            "Which module has the functions that take whole tensors?",
        )

    def no_softmax(self) -> tuple[str, str]:
        new, question = self.edit.new, f"What should each row of {self.noun} add up to? Is every entry positive?"
        for part, summary in (
            ("sigmoid", f"in {self.step}, each number goes through a sigmoid of its own"),
            ("one_hot", f"in {self.step}, the largest gets all of the weight"),
            ("full_like", f"in {self.step}, all get the same weight"),
            ("flatten", f"{self.step} runs over the last two axes together"),
            (".exp().sum()", f"in {self.step}, the exponentials are divided by the sum of all, not of each row"),
            (".exp().sum(dim=-1", f"in {self.step}, large numbers overflow, for nothing is subtracted before `exp`"),
            (".sum(dim=-1", f"in {self.step}, numbers are divided by their sum, and no `exp` is taken before"),
        ):
            if part in new:
                return summary, question
        return f"in {self.step}, the exponentials are not divided by their sum", question

    def masked(self) -> tuple[str, str]:
        question = "Which number becomes exactly 0 in a softmax, whatever the others are?"
        if self.edit.kind == "times_mask":
            return f"{self.step} multiplies with the mask, which leaves 0 behind", question
        if self.edit.kind == "mask_added":
            return f"{self.step} adds the mask as 0 and 1", question
        fill = self.edit.new.rpartition(", ")[2].rstrip(")").replace("torch.inf", "+∞")
        return f"{self.step} puts {'0' if fill == '0.0' else fill} where another number belongs", question

    def draw(self) -> tuple[str, str]:
        summary = "takes the likeliest every time" if "argmax" in self.edit.new else "draws the same every time"
        return f"{self.step} {summary}", "How often should a token of probability 0.3 come out?"

    def place(self) -> tuple[str, str]:
        question = "Count on a short case: which entry comes first, which last?"
        old_axes, new_axes = new_axes_of(self.edit.old), new_axes_of(self.edit.new)
        if len(old_axes) > len(new_axes):
            return f"in {self.step}, an axis of length 1 is missing", self.shape
        if self.edit.kind == "slice" and old_axes != new_axes:
            return f"{self.step} puts an axis of length 1 in the wrong place", self.shape
        if self.edit.kind == "slice" and self.edit.old.replace("-1:]", "-1]") == self.edit.new:
            return f"{self.step} loses an axis: it picks one entry where a slice of length 1 belongs", self.shape
        if self.edit.kind == "range":
            return f"{self.step} {counts_of(self.edit.old, self.edit.new)}", question
        summary = {
            "index": "picks the wrong entry",
            "slice": "cuts in the wrong place",
            "not_indexed": "takes everything where a part is wanted",
            "other_part": "takes the places where the values belong, or the other way round",
        }[self.edit.kind]
        return f"{self.step} {summary}", question

    def bias(self) -> tuple[str, str]:
        summary = (
            "leaves out the bias of its layer"
            if self.edit.kind == "no_bias"
            else "multiplies with a weight that is not transposed"
        )
        return f"{self.step} {summary}", "What does an `nn.Linear` hold, and what does a call of it compute?"

    def twice(self) -> tuple[str, str]:
        return f"{self.step} is done twice", "How often is it done on the way to the result?"

    def sum_of_terms(self) -> tuple[str, str]:
        summary = "takes the larger of two terms where it should add them"
        if self.edit.kind != "clamped":
            second = self.value(operands_of(self.edit.old)[2])
            summary = f"adds the square of {second}" if second else "squares one of its two terms"
        if ".clamp(min=0)" in self.edit.new:
            return f"{self.noun} {self.has} 0 in place of negative numbers", self.by_hand
        return f"{self.step} {summary}", self.by_hand

    # What is done to a value

    def done_to_it(self) -> tuple[str, str]:
        if self.noun.startswith("the axis "):
            return (
                f"{self.noun} is another one than it should be",
                "Along which axis lie the numbers that belong together?",
            )
        form, question = self.edit.new, f"Is something done to {self.noun} that is not in the formula?"
        function = re.search(r"\.(\w+)\(", form)
        if self.edit.kind in ("all_false", "all_true"):
            question = f"Which entries of {self.noun} should be True, and which False?"
        if self.edit.kind == "one_number" and form.endswith("[0]"):
            return f"only the first entry of {self.noun} is used", f"Which entries of {self.noun} are needed?"
        if self.edit.kind == "scaled":
            size = next((word for part, word in SIZES if form.endswith(part)), "")
            summaries = f"{self.is_} {size or 'off by a factor'}"
            if size in ("half", "twice"):
                summaries += f" what {'they' if self.is_ == 'are' else 'it'} should be"
            return f"{self.noun} {summaries}", f"By which factor do the numbers differ? {question}"
        if self.edit.kind == "shifted":
            size = "large" if "+" in form else "small"
            return (
                f"{self.noun} {self.is_} too {size} by 1",
                f"Where does 1 come in, or go missing, on the way to {self.noun}?",
            )
        if self.edit.kind == "function" and function and function[1] in APPLIED:
            summaries = APPLIED[function[1]]
            for one, many in PLURALS.items() if self.is_ == "are" else ():
                summaries = summaries.replace(one, many)
            return f"{self.noun} {summaries}", question
        it, its = ("them", "their") if self.is_ == "are" else ("it", "its")
        summaries = {
            "function": f"{self.has} {its} root taken" if "0.5" in self.edit.new else f"{self.is_} squared",
            "inverse": f"{self.is_} inverted: 1 divided by {it} is used",
            "complement": f"{self.is_} subtracted from 1",
            "normalized": f"{self.is_} divided by {its} own {'norm' if '.norm(' in form else 'sum'}",
            "centered": f"{self.has} the mean taken away",
            "rounded": f"{self.is_} rounded",
            "nan_hidden": f"{self.has} 0 in place of nan",
            "first_for_all": f"of the first row {self.is_} used for every row",
            "one_number": f"{self.is_} {_reduced(form)}, which is used for all",
            "reversed": f"{self.is_} in the reverse order",
            "moved_by_one": f"{self.is_} moved by one position",
            "first_false": f"{self.has} False in all of the first row or column",
            "last_false": f"{self.has} False in all of the last row",
            "window": f"{self.has} False where the two positions are far apart",
            "all_false": f"{self.is_} False everywhere",
            "all_true": f"{self.is_} True everywhere",
            "additive": f"{self.has} numbers to be added, 0 and −∞, in place of True and False",
        }.get(self.edit.kind, f"{self.is_} not as it should be")
        return f"{self.noun} {summaries}", question

    def sign(self) -> tuple[str, str]:
        term = self.value(self.edit.old.removeprefix("-"))
        if term and self.edit.old.startswith("-") and self.edit.old != self.steps.expression(self.edit.step):
            return f"a minus is missing in front of {term} in {self.step}", self.by_hand
        return f"{self.noun} {self.has} the wrong sign", f"Which sign should the first number of {self.noun} have?"

    def dtype(self) -> tuple[str, str]:
        kind = next(
            (dtype_name for name, dtype_name in DTYPES.items() if f".{name}()" in self.edit.new), "the wrong dtype"
        )
        come = "come" if self.is_ == "are" else "comes"
        summary = f"{self.noun} {self.has} {kind}" if kind == "the wrong dtype" else f"{self.noun} {come} out as {kind}"
        return summary, f"What is the `.dtype` of {self.noun}? Which is asked for?"

    def other_kind(self) -> tuple[str, str]:
        verb = "come" if self.is_ == "are" else "comes"
        return (
            f"{self.noun} {verb} out as {KINDS[self.edit.kind]}, not as a tensor",
            "What is the `type` of the result?",
        )

    def only(self) -> tuple[str, str]:
        what = "the place of the largest number" if self.edit.kind == "largest_only" else "the first entry"
        return f"only {what} of {self.noun} is returned", self.shape


def _without_lost_commas(text: str) -> str:
    return re.sub(r",(?=[,.:?!]|$)", "", text)


def _brief(noun: str) -> str:
    return re.split(r", | \(", noun)[0]


def _axis(code: str) -> str:
    found = re.search(r"(?:dim|axis)=(\([^)]*\)|-?\w+)", code)
    return AXES.get(found[1] if found else code, "")


def _reduced(form: str) -> str:
    to = {"mean": "averaged to one number", "sum": "added up to one number", "max": "reduced to the largest number"}
    return next(
        (reduction for name, reduction in to.items() if form.endswith(f".{name}()")), "reduced to one number or row"
    )


DONE_TO_IT = (
    *("scaled", "shifted", "function", "inverse", "complement", "normalized", "centered", "rounded", "nan_hidden"),
    *("first_for_all", "one_number", "reversed", "moved_by_one", "first_false", "last_false", "window", "all_false"),
    *("all_true", "additive"),
)
"""Kinds of things that are done to a value."""
OF_KIND: dict[str, Callable[[_Teller], tuple[str, str]]] = {
    **dict.fromkeys(("axis", "all_axes"), _Teller.axis),
    "parts_exchanged": _Teller.parts,
    **dict.fromkeys(("inputs_exchanged", "values_exchanged", "steps_exchanged"), _Teller.exchanged),
    **dict.fromkeys(("wrong_layer", "layers_exchanged"), _Teller.layers),
    **dict.fromkeys(("moved", "done_again"), _Teller.moved),
    **dict.fromkeys(("not_transposed", "transposed", "other_axes"), _Teller.axes),
    **dict.fromkeys(("length", "fixed"), _Teller.length),
    **dict.fromkeys(("part_left_out", "call_left_out"), _Teller.part),
    **dict.fromkeys(("not_inverted", "inverted", "condition"), _Teller.inverted),
    **dict.fromkeys(("turned_off", "option_left_out"), _Teller.turned_off),
    **dict.fromkeys(("filled_with", "times_mask", "mask_added"), _Teller.masked),
    **dict.fromkeys(("index", "slice", "not_indexed", "range", "other_part"), _Teller.place),
    **dict.fromkeys(("no_bias", "untransposed_weight"), _Teller.bias),
    **dict.fromkeys(("clamped", "operand_squared"), _Teller.sum_of_terms),
    **dict.fromkeys(("as_a_list", "as_an_array", "as_a_number", "in_a_tuple"), _Teller.other_kind),
    **dict.fromkeys(("one_axis_more", "squeezed", "flattened"), _Teller.one_axis_more),
    **dict.fromkeys(("first_only", "largest_only"), _Teller.only),
    **dict.fromkeys(DONE_TO_IT, _Teller.done_to_it),
    "left_out": _Teller.left_out,
    "taken_for": _Teller.taken_for,
    "wrong_input": _Teller.wrong_input,
    "added": _Teller.added,
    "as_well": _Teller.as_well,
    "keepdim": _Teller.keepdim,
    "product": _Teller.product,
    "sibling": _Teller.sibling,
    "operator": _Teller.operator,
    "order": _Teller.order,
    "brackets": _Teller.brackets,
    "terms": _Teller.terms,
    "power": _Teller.power,
    "comparison": _Teller.comparison,
    "always_one": _Teller.always_one,
    "number": _Teller.number,
    "mean_by": _Teller.mean_by,
    "absolute": _Teller.absolute,
    "of_numbers": _Teller.of_numbers,
    "no_softmax": _Teller.no_softmax,
    "draw": _Teller.draw,
    "twice": _Teller.twice,
    "sign": _Teller.sign,
    "dtype": _Teller.dtype,
}
"""How each kind of generated mistake is told."""
TELL_THE_OTHER = {
    *("left_out", "taken_for", "wrong_input", "inputs_exchanged", "values_exchanged", "steps_exchanged"),
    *("layers_exchanged", "moved", "done_again", "added", "as_well", "length", "brackets"),
}
"""Kinds whose clause names the other value itself."""
