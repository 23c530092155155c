"""Lesson 02: why divide by √d_k."""

from transformer_course.exercises.lesson_02_scaling.additive_scores.exercise import ADDITIVE_SCORES
from transformer_course.exercises.lesson_02_scaling.cosine_attention.exercise import COSINE_ATTENTION
from transformer_course.exercises.lesson_02_scaling.scaled_dot_product_attention.exercise import (
    SCALED_DOT_PRODUCT_ATTENTION,
)
from transformer_course.exercises.lesson_02_scaling.score_variance.exercise import SCORE_VARIANCE
from transformer_course.exercises.lesson_02_scaling.softmax_jacobian.exercise import SOFTMAX_JACOBIAN

EXERCISES = (SCORE_VARIANCE, SCALED_DOT_PRODUCT_ATTENTION, SOFTMAX_JACOBIAN, ADDITIVE_SCORES, COSINE_ATTENTION)
