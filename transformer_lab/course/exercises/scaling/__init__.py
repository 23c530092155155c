"""Lesson 02: why divide by √d_k."""

from transformer_lab.course.exercises.scaling.additive_scores import ADDITIVE_SCORES
from transformer_lab.course.exercises.scaling.cosine_attention import COSINE_ATTENTION
from transformer_lab.course.exercises.scaling.scaled_dot_product_attention import SCALED_DOT_PRODUCT_ATTENTION
from transformer_lab.course.exercises.scaling.score_variance import SCORE_VARIANCE
from transformer_lab.course.exercises.scaling.softmax_jacobian import SOFTMAX_JACOBIAN

EXERCISES = (SCORE_VARIANCE, SCALED_DOT_PRODUCT_ATTENTION, SOFTMAX_JACOBIAN, ADDITIVE_SCORES, COSINE_ATTENTION)
