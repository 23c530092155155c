"""Fill message templates with nouns, imperatives and questions from the steps."""

import ast
import re
from typing import TYPE_CHECKING

from transformer_course.generated_mistakes.phrases import action, minus, parse, with_instead
from transformer_course.generated_mistakes.step_words import StepWords, is_plural
from transformer_course.steps import InSteps

if TYPE_CHECKING:
    from transformer_course.generated_mistakes.generated_mistake import AnswerEdit

UNWANTED_CALLS = {
    r"\.abs": "take the absolute value of", r"\.relu": "apply a ReLU to", r"\.square|\*\* 2": "square",
    r"\.sqrt|\*\* 0\.5": "take the square root of", r"\.log\(": "take the logarithm of", r"\.exp\(": "take `exp` of",
    r"\.tanh": "apply a tanh to", r"\.sigmoid": "apply a sigmoid to", r"\.softmax": "take a softmax of",
    r"\.cumsum": "take the running sum of",
}  # fmt: skip
"""Imperatives for functions that the learner should not call."""

OPERATION_PATTERNS = {
    "Mult": r"\bmultipl|\baverage|\bcombine|\bdot product", "Div": r"\bdivi|\bscale|\bmean\b|\baverage",
    "FloorDiv": r"\bdivi|\bround", "Add": r"\badd|\bsum|\bappend|\bconcat|\bjoin|\bextend|\bpad\b|\bupdate|\bcorrect",
    "Sub": r"\bsubtract|\bdifference|\bcount|\bupdate", "MatMult": r"\bmultipl|\baverage",
    "Pow": r"\bsquare|\broot|\bpower|\braise", "Mod": r"\bremainder",
    "sum": r"\bsum\b|\badd up\b|\bcount\b|\baverage|\bmean\b", "mean": r"\bmean\b|\baverage",
    "amax": r"\bmaximum|\blargest",
    "amin": r"\bminimum|\bsmallest", "max": r"\bmaximum|\blargest|\blarger",
    "min": r"\bminimum|\bsmallest|\bsmaller|\blower",
    "maximum": r"\bmaximum|\blarger", "minimum": r"\bminimum|\bsmaller", "square": r"\bsquar", "sqrt": r"\broot",
    "norm": r"\blength|\bnorm\b", "clamp": r"\bclamp|\bkeep|\bclip|\blimit", "exp": r"\bexp", "log": r"\blog",
    "any": r"\bany\b", "all": r"\ball\b", "softmax": r"\bsoftmax", "log_softmax": r"\blog-softmax|\blog p",
    "cumsum": r"\brunning|\bbefore each", "argmax": r"\bargmax|\bmost likely|\blargest",
    "transpose": r"\btranspos|\bswap", "len": r"\blength|\bcount", "repeat_interleave": r"\brepeat",
}  # fmt: skip
"""Patterns that find an operation in the words of a step.

The patterns prevent contradictions such as "you never divide when you divide by the sum".
"""

NUMBER_PATTERNS = {
    "0": r"\bzeros?\b", "1": r"\bones?\b", "2": r"\bdouble|\btwice\b|\bhalf|\bhalve|\bsquare|\btwo\b|²",
    "0.5": r"√|\broot\b|\bhalf|½", "-0.5": r"\broot\b|½",
}  # fmt: skip
"""Patterns that find a number in the words of a step."""

NOT_COMPUTED = re.compile(r"the (?:test|function|result of|index|range|choice|rule|padded|\w+ texts?\b)")
"""Matches nouns of values that are created or chosen, as opposed to computed."""
MAX_CLAUSE_WORDS = 24
"""Maximum number of words in a clause. A longer clause omits "when you …"."""
MAX_TWO_STEP_WORDS = 16
"""Maximum total number of words in the imperatives of two steps that share a clause."""


class Slots(StepWords):
    """Words for one generated mistake. Each property fills the template slot with the same name."""

    def __init__(self, steps: InSteps, edit: "AnswerEdit") -> None:
        super().__init__(steps)
        self.edit, self.name = edit, edit.step
        self.is_argument = edit.step not in steps.steps
        self.right = None if self.is_argument else parse(steps.expression(edit.step) or "")
        body = self.right.body if isinstance(self.right, ast.Lambda) else self.right
        self.code = ast.unparse(body) if body else ""

    def fill(self, template: str) -> str:
        """Fill the slots of a template. Other braces, for example of a dict, are kept."""
        return re.sub(r"\{(\w+)\}", lambda slot: str(getattr(self, slot[1], slot[0])), template)

    # Nouns

    @property
    def thing(self) -> str:
        """The correct value of the step."""
        return self.noun(self.name)

    @property
    def your(self) -> str:
        """The noun, with "your" in front if it is short, as in "your mask"."""
        thing = self.thing
        bare = re.sub(r"^(?:the|a) ", "", thing)
        is_short = bare != thing and len(thing.split()) <= (4 if " of " in thing else 5)
        return f"your {bare}" if is_short else thing

    @property
    def is_short(self) -> bool:
        """Whether the value is short enough for "your …", as in "your mask"."""
        return self.your.startswith("your ")

    @property
    def is_(self) -> str:
        """The verb "is" or "are", agreeing with the value."""
        return "are" if is_plural(self.thing) else "is"

    @property
    def has(self) -> str:
        """The verb "has" or "have", agreeing with the value."""
        return "have" if is_plural(self.thing) else "has"

    @property
    def they(self) -> str:
        """The subject pronoun of the value."""
        return "they" if is_plural(self.thing) else "it"

    @property
    def it(self) -> str:
        """The object pronoun of the value."""
        return "them" if self._are_many else "it"

    @property
    def itself(self) -> str:
        """The reflexive pronoun of the value."""
        return "themselves" if self._are_many else "itself"

    @property
    def its(self) -> str:
        """The possessive pronoun of the value."""
        return "their" if self._are_many else "its"

    @property
    def _are_many(self) -> bool:
        """Whether the value is plural, or an argument with a plural name such as ``keys``."""
        return is_plural(self.thing) or re.search(r"(?<!s)(?<!bia)s`$", self.thing) is not None

    @property
    def old(self) -> str:
        """The noun for the replaced code."""
        return self.noun(self.edit.old) or f"`{self.edit.old}`"

    @property
    def new(self) -> str:
        """The noun for the new code."""
        return self.noun(self.edit.new) or f"`{self.edit.new}`"

    @property
    def other(self) -> str:
        """The noun for the other value involved in the mistake."""
        return self.noun(self.edit.other)

    @property
    def target(self) -> str:
        """The noun for the wrong value that the step is applied to."""
        return self.noun(self.edit.new if self.edit.new in self.steps.known else self.edit.other)

    @property
    def raw_old(self) -> str:
        """The replaced code."""
        return self.edit.old

    @property
    def raw_new(self) -> str:
        """The new code."""
        return self.edit.new

    # Imperatives

    @property
    def do(self) -> str:
        """The step as an imperative."""
        return self.imperative(self.name)

    @property
    def when(self) -> str:
        """The step as an adverbial clause: "when you …"."""
        return f"when you {self.do}"

    def when_not(self, operation: str) -> str:
        """Return the step as an adverbial clause for a wrong or missing operation."""
        return self.where(OPERATION_PATTERNS.get(operation, rf"`{operation}`|\b{operation}\b"))

    def where(self, pattern: str, otherwise: str | None = None) -> str:
        """Return the step as an adverbial clause that does not contradict the main clause.

        Args:
            pattern: Matches the operation that the learner gets wrong. "When you …" must not mention that operation.
            otherwise: The adverbial clause to use if the step's imperative and its noun both match the pattern.

        Returns:
            "when you …", or "when you compute …" with the step's result, or "where you should …".
        """
        if not re.search(pattern, self.do):
            return self.when
        result = self.result
        if result and not re.search(pattern, result):
            return f"when you compute {result}"
        return f"where you should {self.do}" if otherwise is None else otherwise

    @property
    def result(self) -> str:
        """The noun of the value that the step computes, or "" if "compute" would sound wrong."""
        noun = self.plain_noun(self.name)
        is_computed = noun.startswith(("the ", "√")) and not isinstance(self.right, ast.Lambda)
        return noun if is_computed and not NOT_COMPUTED.match(noun) else ""

    @property
    def passes_value_on(self) -> bool:
        """Whether the step only selects or returns an existing value."""
        is_named = isinstance(self.right, ast.Name | ast.Tuple | ast.Subscript | ast.Attribute | ast.Constant)
        return isinstance(self.right, ast.Name) or (
            is_named and re.match(r"(?:return|leave|say|choose|keep|use) ", self.do) is not None
        )

    @property
    def use(self) -> str:
        """The verb for using the value of the step."""
        return "return" if self.name == self.steps.last else "use"

    @property
    def read(self) -> str:
        """The verb for using a size, chosen to avoid "you read … when you read …"."""
        return "use" if self.do.startswith("read ") else "read"

    def size_of(self, new: str, old: str) -> str:
        """Return a clause about a size read from the wrong tensor."""
        read = re.match(r"read (.+?)(?: from |$)", self.do)
        if read:
            return f"you read {read[1]} from {new} instead of {old}. Their sizes can differ"
        return f"you read a size of {new} instead of {old} {self.when}. Their sizes can differ"

    def along(self, new: str, old: str) -> str:
        """Return a clause about the wrong dimension that does not contradict the step's imperative."""
        if re.search(rf"\bdim {re.escape(minus(old))}$", minus(self.do)):
            return f"you {minus(self.do).removesuffix(f'dim {minus(old)}')}dim {new} instead of dim {old}"
        over = re.fullmatch(r"(.+) over (the [\w ]+)", self.do)
        if over and re.fullmatch(r"-?\d", old):
            return f"you {over[1]} over dim {new} instead of dim {old}, {over[2]}"
        return f"you use dim {new} instead of dim {old} {self.when}"

    def action(self, code: str, marks: dict[str, str] | None = None) -> str:
        """Describe code with an imperative, using ``marks`` instead of the nouns for some values."""
        return action(parse(code), lambda name: (marks or {}).get(name) or self.plain_noun(name))

    def instead(self, code: str, old: str, new: str) -> str:
        """Return a clause with "new instead of old", if possible as part of the step's operation."""
        clause = self.action(code, {old: "§"}) if len(re.findall(rf"\b{old}\b", code)) == 1 else ""
        woven = with_instead(clause, self.noun(new), self.noun(old)) or self._in_own_words(new, old)
        plain = f"use {self.noun(new)} instead of {self.noun(old)} {self.when}"
        if len(plain.split()) > MAX_CLAUSE_WORDS:
            plain = plain.removesuffix(f" {self.when}")
        return f"you {woven}" if woven and len(woven) <= len(plain) + 12 else f"you {plain}"

    def _in_own_words(self, new: str, old: str) -> str:
        """Replace the old value in the step's imperative, or return "" unless it occurs exactly once."""
        noun = re.escape(self.noun(old))
        found = re.findall(rf"(?<![\w`]){noun}(?=$|,| and | by | to | with | from | in )", self.do)
        return with_instead(self.do.replace(found[0], "§"), self.noun(new), self.noun(old)) if len(found) == 1 else ""

    @property
    def done(self) -> str:
        """The imperative for an operation on a value that should stay unchanged."""
        return next((verb for pattern, verb in UNWANTED_CALLS.items() if re.search(pattern, self.edit.new)), "change")

    @property
    def unwanted(self) -> str:
        """A sentence saying that the value should stay unchanged."""
        return f" first. Use {self.thing} unchanged" if self.is_argument else ". The formula doesn't"

    @property
    def should_be_bool(self) -> str:
        """A sentence about the correct dtype."""
        texts = (self.edit.old, self.edit.new, self.steps.noun(self.name))
        is_mask = isinstance(self.right, ast.Compare) or re.search(r"bool|\.long|mask|True|whether", " ".join(texts))
        return "The dtype should be `torch.bool`" if is_mask else "Keep the dtype of the input"

    # Questions

    @property
    def by_hand(self) -> str:
        """A question about a small case."""
        if re.match(r"what |the (?:function|result) ", self.thing):
            return f"Work out a small case by hand: what should you get when you {self.do}? What do you get?"
        return f"Work out a small case by hand: what should {self.thing} be? What {self.is_} {self.they} in your code?"

    @property
    def shape(self) -> str:
        """A question about a shape."""
        return f"Which shape should {self.thing} have? Print the shape in your code."

    @property
    def circumstances(self) -> str:
        """Message suffix: the condition under which the mistake occurs, or the other step that it affects."""
        edit = self.edit
        text = edit.code.get(edit.step, "") if isinstance(edit.code, dict) else ""
        if given := re.match(r"if (\w+) is None:\n", text):
            return f", but only if `{given[1]}` is given"
        if edit.other not in self.steps.steps or edit.kind in KINDS_NAMING_OTHER_VALUE:
            return ""
        also = re.sub(r" to the power \S+$", " to a power", self.imperative(edit.other))
        if len(edit.code) == 1:
            return f", and you never {also}"
        if len(self.do.split()) + len(also.split()) > MAX_TWO_STEP_WORDS:
            return ""  # naming one of the two steps is enough
        is_missing = edit.kind in ("left_out", "call_left_out", "part_left_out")
        return f", and you don't {also}" if is_missing else f", and again when you {also}"


KINDS_NAMING_OTHER_VALUE = {
    *("left_out", "taken_for", "wrong_input", "inputs_exchanged", "values_exchanged", "steps_exchanged"),
    *("layers_exchanged", "moved", "done_again", "added", "as_well", "length", "brackets"),
}
"""Kinds whose template already names the other value."""
