"""Lesson 00: the bottleneck, and attention as the way round it."""

from transformer_course.exercises.lesson_00_bottleneck.context_vector.exercise import CONTEXT_VECTOR
from transformer_course.exercises.lesson_00_bottleneck.luong_step.exercise import LUONG_STEP
from transformer_course.exercises.lesson_00_bottleneck.rnn_step.exercise import RNN_STEP

EXERCISES = (RNN_STEP, CONTEXT_VECTOR, LUONG_STEP)
