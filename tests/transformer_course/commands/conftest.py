"""A stand-in for the grader."""

import sys
from types import ModuleType

import pytest

from transformer_course.jail.jail import Jail

GRADE = "transformer_course.grading.grade"


@pytest.fixture
def graded(monkeypatch):
    """Stand in for the grader, and note what it is asked for."""
    seen = []

    def grade(
        paths,
        out,
        *,
        lessons,
        roster,
        late_policy,
        partial_credit,
        library_calls,
        seed,
        seconds,
        memory_mb,
        jobs,
        fresh,
        unconfined,
        container,
        own,
        scheduler,
        jail,
    ):
        module.seen_scheduler, module.seen_jail = scheduler, jail
        module.seen_library_calls = library_calls
        seen_rules.append((roster, late_policy, partial_credit))
        module.seen_own = own
        events.append("graded")
        seen.append((paths, out, lessons, seed, seconds, memory_mb, jobs, fresh, unconfined, container))
        return "2 students, 1 lesson."

    seen_rules, events = [], []
    module = ModuleType(GRADE)
    module.seen_rules = seen_rules
    module.grade, module.seen_of_jail = grade, events
    monkeypatch.setitem(sys.modules, GRADE, module)
    monkeypatch.setattr(Jail, "start", lambda jail: events.append("starts"))
    monkeypatch.setattr(Jail, "close", lambda jail: events.append("closed"))
    return seen
