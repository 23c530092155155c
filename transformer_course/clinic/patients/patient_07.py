"""Patient 7."""

from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DecoderOnly
from transformer_lab.attention.kv_cache import KVCache
from transformer_lab.attention.positions import Positional
from transformer_lab.models import language_model


class Block(language_model.Block):
    """A block of patient 7."""

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        positional: Positional | None = None,
        cache: KVCache | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the block's output at every position."""
        x = self.norm_1(x)
        x = x + self.dropout(self.self_attention(x, mask, positional, cache, is_causal))
        x = self.norm_2(x)
        return x + self.dropout(self.feed_forward(x))


class Patient(DecoderOnly):
    """Patient 7."""

    number = 7
    complaint = "It learns and answers well. The owner would like to make it much deeper and wants it checked first."
    part = Block


REPORT = Report(
    diagnosis="B",
    bug="x = norm(x) overwrites the residual stream. The outputs of earlier layers pass through every later norm, and "
    "the identity path from the first layer to the last is gone.",
    repair="x = x + self.self_attention(self.norm_1(x), …), and the same for the feed-forward network",
    address="pytorch#61165, burn#1056",
    test="Ten times the input gives nearly ten times the output of a block, because its sublayers' outputs don't grow.",
)
