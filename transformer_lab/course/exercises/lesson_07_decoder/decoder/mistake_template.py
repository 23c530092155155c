"""A decoder in pieces, of which the known mistakes each replace one."""

import math

from transformer_lab.course.exercises.lesson_07_decoder.shared.reference_pieces import Decoder


class InPieces(Decoder):
    """A right version, to be made wrong in one place."""

    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for layer in self.layers:
            x = self.step(layer, x, memory, mask, memory_mask)
        return x

    def begin(self, tokens):
        return self.embed(tokens) + self.place(tokens)

    def embed(self, tokens):
        return self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)

    def place(self, tokens):
        return self.positions[: tokens.shape[1]]

    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory, mask, memory_mask)
