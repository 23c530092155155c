"""Lesson 06: the encoder."""

EXERCISES = (
    "layer_norm",
    "feed_forward",
    "encoder_layer",
    "pre_norm_encoder_layer",
    "encoder",
    "keeps_the_stream",
)
