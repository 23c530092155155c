"""Lesson 00: the bottleneck, and attention as the way round it."""

from transformer_lab.course.exercises.bottleneck.context_vector import CONTEXT_VECTOR
from transformer_lab.course.exercises.bottleneck.luong_step import LUONG_STEP

EXERCISES = (CONTEXT_VECTOR, LUONG_STEP)
