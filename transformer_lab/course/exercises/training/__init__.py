"""Lesson 08: training the whole Transformer."""

from transformer_lab.course.exercises.training.greedy_decode import GREEDY_DECODE
from transformer_lab.course.exercises.training.noam_rate import NOAM_RATE
from transformer_lab.course.exercises.training.parameter_groups import PARAMETER_GROUPS
from transformer_lab.course.exercises.training.sequence_log_probability import SEQUENCE_LOG_PROBABILITY
from transformer_lab.course.exercises.training.smoothed_cross_entropy import SMOOTHED_CROSS_ENTROPY

EXERCISES = (SMOOTHED_CROSS_ENTROPY, NOAM_RATE, PARAMETER_GROUPS, GREEDY_DECODE, SEQUENCE_LOG_PROBABILITY)
