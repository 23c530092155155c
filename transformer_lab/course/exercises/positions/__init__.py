"""Lesson 05: where attention gets its order from."""

from transformer_lab.course.exercises.positions.alibi_bias import ALIBI_BIAS
from transformer_lab.course.exercises.positions.apply_rotary import APPLY_ROTARY
from transformer_lab.course.exercises.positions.relative_bias import RELATIVE_BIAS
from transformer_lab.course.exercises.positions.shift_rotation import SHIFT_ROTATION
from transformer_lab.course.exercises.positions.sinusoidal_encoding import SINUSOIDAL_ENCODING

EXERCISES = (SINUSOIDAL_ENCODING, SHIFT_ROTATION, APPLY_ROTARY, ALIBI_BIAS, RELATIVE_BIAS)
