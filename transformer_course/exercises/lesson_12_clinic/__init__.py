"""Lesson 12: the bug clinic."""

from transformer_course.exercises.lesson_12_clinic.cached_difference.exercise import CACHED_DIFFERENCE
from transformer_course.exercises.lesson_12_clinic.gradient_norms.exercise import GRADIENT_NORMS
from transformer_course.exercises.lesson_12_clinic.padding_difference.exercise import PADDING_DIFFERENCE
from transformer_course.exercises.lesson_12_clinic.which_inputs.exercise import WHICH_INPUTS

EXERCISES = (GRADIENT_NORMS, CACHED_DIFFERENCE, PADDING_DIFFERENCE, WHICH_INPUTS)
