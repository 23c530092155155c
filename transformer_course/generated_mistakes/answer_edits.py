"""Generate plausible mistakes in a step-by-step answer, from likely to far-fetched.

Each generated mistake makes one change. It edits an expression; omits, moves or repeats a step; passes the wrong input,
but of the right kind, to a step; applies an extra operation to a step's result; misreads an argument; or makes the same
edit in several similar steps.
"""

import ast
import copy
import inspect
import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from transformer_course.generated_mistakes.expression_edits import Edit, edits
from transformer_course.generated_mistakes.expression_syntax import input_of, name_of, parsed
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit, used_names
from transformer_course.generated_mistakes.value_edits import ARGUMENT_EDITS, FINAL_RESULT_EDITS, RESULT_EDITS, Kind
from transformer_course.steps import InSteps, Step

KINDS_WITH_PREVIOUS_STEP = (
    *("sibling", "no_softmax", "operator", "order", "axis", "keepdim", "all_axes", "call_left_out", "power"),
)
"""Kinds of edits that people often combine with omitting the previous step."""
MAX_WEIGHT = 3.0


@dataclass
class Code:
    """The code of a step.

    Args:
        body: The statements of the step, without its docstring.
        known: Names of the values that the code may use.
    """

    body: Sequence[ast.stmt]
    known: frozenset[str]

    @cached_property
    def text(self) -> str:
        """The code as a string."""
        return ast.unparse(ast.Module(body=list(self.body), type_ignores=[]))

    @cached_property
    def returned(self) -> ast.expr | None:
        """The returned expression, if the step is a single return statement."""
        statement = self.body[0] if len(self.body) == 1 else None
        return statement.value if isinstance(statement, ast.Return) else None

    @cached_property
    def uses(self) -> list[str]:
        """Names of the values that the code uses, except ``self``."""
        return [name for name in used_names(self.text, self.known) if name != "self"]

    def followed_by(self, form: str) -> str | None:
        """Return the code with ``form`` applied to the returned value, or None if the code doesn't end in a return."""
        *before, last = self.body
        if not isinstance(last, ast.Return) or last.value is None:
            return None
        value = ast.unparse(last.value)
        if form.count("§") > 1 and not isinstance(last.value, ast.Name):
            lines, value = [f"value = {value}"], "value"
        else:
            lines, value = [], value if isinstance(last.value, ast.Name | ast.Call | ast.Subscript) else f"({value})"
        return "\n".join([*map(ast.unparse, before), *lines, f"return {form.replace('§', value)}"])

    def n_uses(self, name: str) -> int:
        """Count the uses of a value."""
        nodes = (node for statement in self.body for node in ast.walk(statement))
        return sum(isinstance(node, ast.Name) and node.id == name for node in nodes)

    def with_names(self, names: Mapping[str, str], only: int | None = None) -> str:
        """Return the code with values renamed. If ``only`` is given, rename only the use with this index."""
        rename = _Rename({old: parsed(new) for old, new in names.items()}, only)
        return "\n".join(ast.unparse(rename.visit(copy.deepcopy(statement))) for statement in self.body)


class _Rename(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr], only: int | None) -> None:
        self.names, self.only, self.n_met = names, only, 0

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        self.n_met += 1
        return self.names[node.id] if self.only in (None, self.n_met - 1) else node


def code_of(step: Step, known: frozenset[str]) -> Code | None:
    """Return the code of a step, or None if it cannot be edited, for example because it is created at run time."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(step))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    if not isinstance(tree, ast.FunctionDef) or tree.args.vararg is not None or tree.name != step.__name__:
        return None
    return Code(tree.body[1:] if ast.get_docstring(tree) else tree.body, known)


class Sources:
    """Generate the likely mistakes in an answer from its steps and their values.

    Args:
        steps: The correct answer.
        samples: The correct values of all arguments and steps in some cases. Values of the same kind may be confused
            with each other.
    """

    def __init__(self, steps: InSteps, samples: Sequence[Mapping[str, Any]]) -> None:
        self.steps, self.samples = steps, samples
        known = frozenset(steps.known)
        found = {name: code_of(step, known) for name, step in steps.steps.items()}
        self.codes = {name: code for name, code in found.items() if code is not None}
        self.arguments = [name for name in steps.arguments.parameters if name != "self"]
        self.order = [*self.arguments, *steps.steps]

    def answer_edits(self) -> Iterator[AnswerEdit]:
        """Yield all generated mistakes, some of which may behave identically."""
        edits_of = {name: list(edits(code.body)) for name, code in self.codes.items()}
        for edit in self._all(edits_of):
            if edit.weight <= MAX_WEIGHT:
                yield edit
                yield from self._only_with_option(edit)

    def _all(self, edits_of: Mapping[str, Sequence[Edit]]) -> Iterator[AnswerEdit]:
        for name, code in self.codes.items():
            for edit in edits_of[name]:
                yield AnswerEdit(name, edit.kind, edit.old, edit.new, "", edit.weight, {name: edit.code})
            yield from self._omissions(name, code)
            yield from self._wrong_inputs(name, code)
            yield from self._result_edits(name, code)
            yield from self._size_edits(name, code)
            yield from self._missing_parentheses(name, code)
            yield from self._with_previous_step_omitted(name, code)
            yield from self._moved_steps(name, code)
        for name in self.arguments:
            yield from self._argument_edits(name)
        yield from self._parallel_edits(edits_of)
        yield from self._swapped_values()

    def kind(self, name: str) -> Kind:
        """Return the kind of a value in the samples."""
        value = next((sample[name] for sample in self.samples if sample.get(name) is not None), None)
        if isinstance(value, Tensor):
            return "bool" if str(value.dtype) == "torch.bool" else "float" if value.is_floating_point() else "int"
        return "number" if type(value) in (int, float) else "tuple" if isinstance(value, tuple) else "other"

    def _form(self, name: str) -> tuple[object, ...]:
        values = [sample.get(name) for sample in self.samples]
        return (self.kind(name), *(value.dim() if isinstance(value, Tensor) else type(value) for value in values))

    def alike(self, name: str) -> list[str]:
        """List the other values with the same kind and number of dimensions, unless they always equal this value."""
        return [
            other
            for other in self.order
            if other != name and self._form(other) == self._form(name) and not self._are_always_equal(name, other)
        ]

    def _are_always_equal(self, name: str, other: str) -> bool:
        for sample in self.samples:
            one, two = sample.get(name), sample.get(other)
            if isinstance(one, Tensor) and isinstance(two, Tensor):
                if one.shape != two.shape or not one.equal(two):
                    return False
            elif one is not two:
                return False
        return True

    def before(self, name: str) -> list[str]:
        """List the values that are available before a step runs."""
        return list(itertools.takewhile(lambda one: one != name, self.order))

    def after(self, name: str) -> set[str]:
        """List the steps that depend on a value, directly or indirectly."""
        direct = {step for step, code in self.codes.items() if name in code.uses}
        return direct.union(*(self.after(step) for step in direct))

    def _omissions(self, name: str, code: Code) -> Iterator[AnswerEdit]:
        for need in code.uses:
            likely = self.kind(need) == self.kind(name) and (
                need == code.uses[0] or self._form(need) == self._form(name)
            )
            yield AnswerEdit(name, "left_out", "", need, need, 1 if likely else 2.4, {name: need})
        for other in self.alike(name):
            if other in self.before(name) and other not in code.uses:
                yield AnswerEdit(name, "taken_for", "", other, other, 2, {name: other})

    def _wrong_inputs(self, name: str, code: Code) -> Iterator[AnswerEdit]:
        for need in code.uses:
            for other in [one for one in self.alike(need) if one in self.before(name)]:
                weight = 1.2 if other not in code.uses else 1.5
                yield AnswerEdit(
                    name, "wrong_input", need, other, other, weight, {name: code.with_names({need: other})}
                )
                for only in range(n_uses) if (n_uses := code.n_uses(need)) > 1 else ():
                    yield AnswerEdit(
                        name, "wrong_input", need, other, other, 2, {name: code.with_names({need: other}, only)}
                    )
        for one, two in itertools.combinations(code.uses, 2):
            if two in self.alike(one):
                exchanged = code.with_names({one: two, two: one})
                yield AnswerEdit(name, "inputs_exchanged", one, two, two, 1.2, {name: exchanged})
        layers = {layer for other in self.codes.values() for layer in _layers(other.body)}
        for layer in _layers(code.body):
            for wrong in sorted(layers - {layer}):
                if wrong[:2] == layer[:2]:
                    new = code.text.replace(f"self.{layer}", f"self.{wrong}")
                    yield AnswerEdit(name, "wrong_layer", layer, wrong, "", 1.2, {name: new})

    def _result_edits(self, name: str, code: Code) -> Iterator[AnswerEdit]:
        kind, is_last = self.kind(name), name == self.steps.last
        # among edits with the same behavior, prefer the edit to the last step
        later = 0.03 * (len(self.order) - self.order.index(name))
        forms = [(form, what, weight + later) for form, what, weight in RESULT_EDITS[kind]]
        if is_last and kind in ("float", "int", "bool"):
            forms += FINAL_RESULT_EDITS
        for form, what, weight in forms:
            if new := code.followed_by(form):
                yield AnswerEdit(name, what, "", form, "", weight, {name: new})
        for other in self.before(name) if kind == "float" else ():
            if other in self.alike(name) and other not in code.uses and (new := code.followed_by(f"§ + {other}")):
                yield AnswerEdit(name, "added", "", other, other, 2 if is_last else 2.8, {name: new})
            is_tensor = all(isinstance(sample.get(other), Tensor) for sample in self.samples)
            if is_last and is_tensor and other in self.codes and (new := code.followed_by(f"(§, {other})")):
                yield AnswerEdit(name, "as_well", "", other, other, 2.4, {name: new})

    def _size_edits(self, name: str, code: Code) -> Iterator[AnswerEdit]:
        nodes = (node for statement in code.body for node in ast.walk(statement))
        lengths = {
            ast.unparse(node): ast.unparse(node.value.value)
            for node in nodes
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        }
        for length, of in lengths.items():
            for other in self.before(name):
                if other != of and all(isinstance(sample.get(other), Tensor) for sample in self.samples):
                    for index, weight in (("-1", 1.2), ("-2", 1.4), ("0", 2.2)):
                        new = f"{other}.shape[{index}]"
                        yield AnswerEdit(
                            name, "length", length, new, other, weight, {name: code.text.replace(length, new)}
                        )
            for number in ("64", "8", "512"):
                yield AnswerEdit(name, "fixed", length, number, "", 2.2, {name: code.text.replace(length, number)})

    def _missing_parentheses(self, name: str, code: Code) -> Iterator[AnswerEdit]:
        """Yield edits from (a − b) / c to a − b / c if the two operations are in separate steps."""
        value = code.returned
        if (
            isinstance(value, ast.BinOp)
            and isinstance(value.op, ast.Div | ast.Mult)
            and isinstance(value.left, ast.Name)
        ):
            inner = self.codes[value.left.id].returned if value.left.id in self.codes else None
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub):
                new = ast.unparse(ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, value.op, value.right)))
                yield AnswerEdit(name, "brackets", ast.unparse(value), new, value.left.id, 1, {name: new})

    def _with_previous_step_omitted(self, name: str, code: Code) -> Iterator[AnswerEdit]:
        for need in code.uses:
            earlier = self.codes[need].uses[:1] if need in self.codes else []
            if earlier and self._form(earlier[0]) == self._form(need):
                body = ast.parse(code.with_names({need: earlier[0]})).body
                for one in edits(body):
                    if one.kind in KINDS_WITH_PREVIOUS_STEP:
                        yield AnswerEdit(name, one.kind, one.old, one.new, need, one.weight + 1.2, {name: one.code})

    def _moved_steps(self, name: str, code: Code) -> Iterator[AnswerEdit]:
        """Yield edits that apply a step to another value of the same kind, either instead or in addition."""
        main = _main_input(code.returned)
        if main is None or main not in self.order or code.returned is None:
            return
        side = [need for need in code.uses if need != main]
        place = self.order.index(name)
        for target, other in self.codes.items():
            distance = 0.2 * abs(self.order.index(target) - place)
            is_later = target in self.after(name)
            if target == name or self.kind(main) not in (self.kind(target), "float") or distance > 1:
                continue
            if any(target == need or need in self.after(target) for need in side):
                continue  # the target is computed before a value that the step needs
            as_form = ast.unparse(_Rename({main: ast.Name("_main_")}, None).visit(copy.deepcopy(code.returned)))
            is_elsewhere = (is_later or self.order.index(target) < place) and self.kind(target) == self.kind(main)
            if is_elsewhere and (new := other.followed_by(as_form.replace("_main_", "§"))):
                yield AnswerEdit(name, "moved", main, target, target, 1.2 + distance, {name: main, target: new})
                yield AnswerEdit(name, "done_again", main, target, target, 2 + distance, {target: new})
            for need in other.uses:
                if need != name and self._form(need) == self._form(main) and (is_later or need in self.before(main)):
                    new = other.with_names({need: f"({as_form.replace('_main_', need)})"})
                    yield AnswerEdit(name, "moved", main, need, target, 1.6 + distance, {name: main, target: new})

    def _argument_edits(self, name: str) -> Iterator[AnswerEdit]:
        kind = self.kind(name)
        for other in self.alike(name):
            if other in self.arguments:
                yield AnswerEdit(name, "argument_for_another", name, other, other, 1.2, {name: other})
        for form, what, weight in ARGUMENT_EDITS[kind]:
            new = form.replace("§", name)
            yield AnswerEdit(name, what, name, new, "", weight, {name: new})
        default = self.steps.arguments.parameters[name].default
        values: dict[Any, float] = {} if default is inspect.Parameter.empty else {default: 1.0}
        if default is None or any(sample.get(name) is None for sample in self.samples):
            values[None] = 1.0
        if kind == "number":
            values |= {1: 1.6, 0: 1.8, 2: 2.4, 4: 2.6, 64: 2.6}
        for value, weight in values.items():
            if value is None or type(value) in (int, float, bool, str):
                yield AnswerEdit(name, "ignored", name, repr(value), "", weight, {name: repr(value)})

    def _parallel_edits(self, edits_of: Mapping[str, Sequence[Edit]]) -> Iterator[AnswerEdit]:
        """Yield the same edit in all steps with the same structure, and swaps of two of these steps."""
        groups: dict[str, list[str]] = {}
        for name, code in self.codes.items():
            if code.returned is not None and not isinstance(code.returned, ast.Constant):
                groups.setdefault(_with_placeholders(code, self.steps.known), []).append(name)
        twins = [pair for group in groups.values() for pair in itertools.combinations(group, 2)]
        for group in [*twins, *(tuple(group) for group in groups.values() if len(group) > 2)]:
            first, *others = ({one.key: one for one in edits_of[name]} for name in group)
            for key, edit in first.items():
                if all(key in other for other in others):
                    both = {name: each[key].code for name, each in zip(group, (first, *others), strict=True)}
                    yield AnswerEdit(
                        group[0], edit.kind, edit.old, edit.new, group[1], edit.weight + 0.1 * len(group) - 0.2, both
                    )
        for one, two in twins:
            layers = [_layers(self.codes[name].body) for name in (one, two)]
            if all(len(each) == 1 for each in layers) and layers[0] != layers[1]:
                (a,), (b,) = layers
                both = {
                    one: self.codes[one].text.replace(f".{a}", f".{b}"),
                    two: self.codes[two].text.replace(f".{b}", f".{a}"),
                }
                yield AnswerEdit(one, "layers_exchanged", a, b, two, 1, both)
            if one not in self.codes[two].uses and self.codes[one].uses == self.codes[two].uses:
                yield AnswerEdit(
                    one, "steps_exchanged", "", "", two, 1.2, {one: self.codes[two].text, two: self.codes[one].text}
                )

    def _swapped_values(self) -> Iterator[AnswerEdit]:
        for one, two in itertools.combinations(self.order, 2):
            if two in self.alike(one):
                users = {n: c for n, c in self.codes.items() if {one, two} & {*c.uses} and n not in (one, two)}
                if users and all({one, two} <= {*self.before(name)} for name in users):
                    code = {name: code.with_names({one: two, two: one}) for name, code in users.items()}
                    yield AnswerEdit(one, "values_exchanged", one, two, two, 1.2, code)

    def _only_with_option(self, edit: AnswerEdit) -> Iterator[AnswerEdit]:
        """Yield variants of an edit that apply only if an optional argument is given, as in one branch of an ``if``."""
        if edit.weight > 2 or list(edit.code) != [edit.step] or edit.step not in self.codes:
            return
        for name in self.arguments:
            after = self.after(name)
            users = [step for step, code in self.codes.items() if edit.step in code.uses]
            depends_on_option = edit.step in after or (users and after.issuperset(users))
            if depends_on_option and self.steps.arguments.parameters[name].default is None:
                right = textwrap.indent(self.codes[edit.step].text, "    ")
                new = edit.code[edit.step]
                wrong = new if new.startswith(("return ", "if ")) or "\n" in new else f"return {new}"
                code = f"if {name} is None:\n{right}\n{wrong}"
                yield AnswerEdit(
                    edit.step, edit.kind, edit.old, edit.new, edit.other, edit.weight + 0.3, {edit.step: code}
                )


def _layers(body: Sequence[ast.stmt]) -> list[str]:
    """List the attributes of ``self`` that the code uses."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    return list(dict.fromkeys(n.attr for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"))


def _main_input(value: ast.expr | None) -> str | None:
    """Return the main input of an expression if it is a name, or None."""
    main = value.left if isinstance(value, ast.BinOp) else input_of(value) if isinstance(value, ast.Call) else None
    is_joining = isinstance(value, ast.Call) and name_of(value) in ("gather", "cat", "stack", "multinomial")
    return main.id if isinstance(main, ast.Name) and not is_joining else None


def _with_placeholders(code: Code, known: set[str]) -> str:
    """Return the code with values and layers replaced by placeholders."""

    class Placeholders(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Name("_") if node.id in known else node

        def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
            of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
            return ast.Name("_layer_") if of_self else self.generic_visit(node)  # type: ignore[return-value]

    return "\n".join(ast.unparse(Placeholders().visit(copy.deepcopy(statement))) for statement in code.body)
