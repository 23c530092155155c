"""An encoder in pieces, of which the known mistakes each replace one."""

from transformer_lab.course.exercises.lesson_06_encoder.shared.reference_pieces import Encoder


class InPieces(Encoder):
    """A right version, to be made wrong in one place."""

    def forward(self, tokens, mask=None):
        return self.through(self.embed(tokens), mask)

    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[: x.shape[1]]

    def through(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x
