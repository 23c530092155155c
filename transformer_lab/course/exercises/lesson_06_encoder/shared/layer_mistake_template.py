"""Layers in pieces, of which the known mistakes each replace one."""

from transformer_lab.course.exercises.lesson_06_encoder.shared.reference_pieces import EncoderLayer


class InPieces(EncoderLayer):
    """The parts of a layer, post-norm or pre-norm, with names for what its two sublayers say."""

    def attended(self, x, mask):
        return self.self_attention(x, x, x, mask)

    def computed(self, x):
        return self.feed_forward(x)
