"""Lesson 06: the encoder."""

from transformer_course.exercises.lesson_06_encoder.encoder.exercise import ENCODER
from transformer_course.exercises.lesson_06_encoder.encoder_layer.exercise import ENCODER_LAYER
from transformer_course.exercises.lesson_06_encoder.feed_forward.exercise import FEED_FORWARD
from transformer_course.exercises.lesson_06_encoder.keeps_the_stream.exercise import KEEPS_THE_STREAM
from transformer_course.exercises.lesson_06_encoder.layer_norm.exercise import LAYER_NORM
from transformer_course.exercises.lesson_06_encoder.pre_norm_encoder_layer.exercise import PRE_NORM_ENCODER_LAYER

EXERCISES = (LAYER_NORM, FEED_FORWARD, ENCODER_LAYER, PRE_NORM_ENCODER_LAYER, ENCODER, KEEPS_THE_STREAM)
