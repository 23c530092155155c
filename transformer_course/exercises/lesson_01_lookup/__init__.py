"""Lesson 01: attention is a soft dictionary lookup."""

from transformer_course.exercises.lesson_01_lookup.attention.exercise import ATTENTION
from transformer_course.exercises.lesson_01_lookup.attention_weights.exercise import ATTENTION_WEIGHTS
from transformer_course.exercises.lesson_01_lookup.distance_attention.exercise import DISTANCE_ATTENTION
from transformer_course.exercises.lesson_01_lookup.similarity.exercise import SIMILARITY
from transformer_course.exercises.lesson_01_lookup.soft_lookup.exercise import SOFT_LOOKUP
from transformer_course.exercises.lesson_01_lookup.softmax.exercise import SOFTMAX

EXERCISES = (SIMILARITY, SOFTMAX, SOFT_LOOKUP, ATTENTION_WEIGHTS, ATTENTION, DISTANCE_ATTENTION)
