"""Rules for all lessons. Each rule is a function that takes a lesson and yields a message for each violation."""

from collections.abc import Callable, Iterator

from tests.notebooks.lesson import Lesson
from tests.notebooks.rules import contents, execution, exercises, length

Rule = Callable[[Lesson], Iterator[str]]

RULES: list[Rule] = [*execution.RULES, *exercises.RULES, *contents.RULES, *length.RULES]
