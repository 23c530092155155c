"""A decoder layer in pieces, of which the known mistakes each replace one."""

from transformer_lab.course.exercises.lesson_07_decoder.shared.reference_pieces import DecoderLayer


class InPieces(DecoderLayer):
    """A right version, to be made wrong in one place."""

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = self.add(2, x, self.across(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))

    def back(self, x, memory, mask, memory_mask):
        return self.self_attention(x, x, x, mask)

    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, memory, memory, memory_mask)

    def add(self, number, x, found):
        return getattr(self, f"norm_{number}")(x + found)
