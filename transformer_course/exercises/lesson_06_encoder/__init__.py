"""Lesson 06: the encoder."""

EXERCISES = (
    "layer_norm",
    "FeedForward",
    "EncoderLayer",
    "PreNormEncoderLayer",
    "Encoder",
    "keeps_the_stream",
)
