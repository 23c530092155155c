"""Lesson 01: attention is a soft dictionary lookup."""

from transformer_lab.course.exercises.lookup.attention import ATTENTION
from transformer_lab.course.exercises.lookup.attention_weights import ATTENTION_WEIGHTS
from transformer_lab.course.exercises.lookup.distance_attention import DISTANCE_ATTENTION
from transformer_lab.course.exercises.lookup.similarity import SIMILARITY
from transformer_lab.course.exercises.lookup.soft_lookup import SOFT_LOOKUP
from transformer_lab.course.exercises.lookup.softmax import SOFTMAX

EXERCISES = (SIMILARITY, SOFTMAX, SOFT_LOOKUP, ATTENTION_WEIGHTS, ATTENTION, DISTANCE_ATTENTION)
