"""Lesson 06: the encoder."""

from transformer_lab.course.exercises.encoder.encoder import ENCODER
from transformer_lab.course.exercises.encoder.encoder_layer import ENCODER_LAYER
from transformer_lab.course.exercises.encoder.feed_forward import FEED_FORWARD
from transformer_lab.course.exercises.encoder.layer_norm import LAYER_NORM
from transformer_lab.course.exercises.encoder.pre_norm_encoder_layer import PRE_NORM_ENCODER_LAYER
from transformer_lab.course.exercises.encoder.sentence_vectors import SENTENCE_VECTORS

EXERCISES = (LAYER_NORM, FEED_FORWARD, ENCODER_LAYER, PRE_NORM_ENCODER_LAYER, ENCODER, SENTENCE_VECTORS)
