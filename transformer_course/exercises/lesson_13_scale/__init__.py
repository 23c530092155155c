"""Lesson 13: beyond one machine."""

from transformer_course.exercises.lesson_13_scale.accumulate.exercise import ACCUMULATE
from transformer_course.exercises.lesson_13_scale.all_reduce_gradients.exercise import ALL_REDUCE_GRADIENTS
from transformer_course.exercises.lesson_13_scale.fit_scaling_law.exercise import FIT_SCALING_LAW
from transformer_course.exercises.lesson_13_scale.training_flops.exercise import TRAINING_FLOPS

EXERCISES = (ACCUMULATE, ALL_REDUCE_GRADIENTS, TRAINING_FLOPS, FIT_SCALING_LAW)
