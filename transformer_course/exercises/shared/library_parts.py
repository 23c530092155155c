"""The ``parts`` that references of later exercises use: the references of earlier ones."""

from transformer_course.exercises import every_exercise
from transformer_course.running.parts import Parts

parts = Parts(lambda name: every_exercise()[name].reference)
"""A learner's own parts are never among them, because references must be right whatever happens in a lesson."""
