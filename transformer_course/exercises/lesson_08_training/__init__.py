"""Lesson 08: training the whole Transformer."""

from transformer_course.exercises.lesson_08_training.greedy_decode.exercise import GREEDY_DECODE
from transformer_course.exercises.lesson_08_training.make_batches.exercise import MAKE_BATCHES
from transformer_course.exercises.lesson_08_training.noam_rate.exercise import NOAM_RATE
from transformer_course.exercises.lesson_08_training.parameter_groups.exercise import PARAMETER_GROUPS
from transformer_course.exercises.lesson_08_training.sequence_log_probability.exercise import (
    SEQUENCE_LOG_PROBABILITY,
)
from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy.exercise import SMOOTHED_CROSS_ENTROPY

EXERCISES = (
    MAKE_BATCHES,
    SMOOTHED_CROSS_ENTROPY,
    PARAMETER_GROUPS,
    NOAM_RATE,
    GREEDY_DECODE,
    SEQUENCE_LOG_PROBABILITY,
)
