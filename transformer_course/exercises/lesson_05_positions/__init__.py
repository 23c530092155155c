"""Lesson 05: where attention gets its order from."""

from transformer_course.exercises.lesson_05_positions.alibi_bias.exercise import ALIBI_BIAS
from transformer_course.exercises.lesson_05_positions.apply_rotary.exercise import APPLY_ROTARY
from transformer_course.exercises.lesson_05_positions.relative_bias.exercise import RELATIVE_BIAS
from transformer_course.exercises.lesson_05_positions.shift_rotation.exercise import SHIFT_ROTATION
from transformer_course.exercises.lesson_05_positions.sinusoidal_encoding.exercise import SINUSOIDAL_ENCODING

EXERCISES = (SINUSOIDAL_ENCODING, SHIFT_ROTATION, APPLY_ROTARY, ALIBI_BIAS, RELATIVE_BIAS)
