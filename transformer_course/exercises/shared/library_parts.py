"""The ``parts`` that reference solutions use: the reference solutions of earlier exercises."""

from transformer_course.exercises import every_exercise
from transformer_course.running.parts import Parts

parts = Parts(lambda name: every_exercise()[name].reference)
"""Learners' own parts are never included, because references must be correct whatever happens in a lesson."""
