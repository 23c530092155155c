"""What every lesson keeps to: each rule takes a lesson and lists its complaints."""

from collections.abc import Callable, Iterator

from tests.notebooks.lesson import Lesson
from tests.notebooks.rules import contents, exercises, running, style

Rule = Callable[[Lesson], Iterator[str]]

RULES: list[Rule] = [*running.RULES, *exercises.RULES, *contents.RULES, *style.RULES]
