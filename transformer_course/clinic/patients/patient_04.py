"""Patient 4."""

from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import EncoderDecoder
from transformer_lab.attention.kv_cache import LayerCache
from transformer_lab.layers import decoder_layer


class PreNormDecoderLayer(decoder_layer.PreNormDecoderLayer):
    """A decoder layer of patient 4."""

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        memory_mask: Bool[Tensor, "*#batch_and_heads #n #n_source"] | None = None,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the layer's output at every position."""
        self_cache, source = (None, None) if cache is None else (cache.self_attention, cache.source)
        normalized = self.norm_1(x)
        x = x + self.dropout(self.self_attention(normalized, normalized, normalized, mask, self_cache))
        x = x + self.dropout(self.attend_to_memory(self.norm_1(x), memory, memory_mask, source))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))


class Patient(EncoderDecoder):
    """Patient 4."""

    number = 4
    complaint = "It learns and answers well. Another implementation with the same parameters gives different logits."
    part = PreNormDecoderLayer


REPORT = Report(
    diagnosis="D",
    bug="norm_1 is applied before the self-attention and before the cross-attention. norm_2 is never called, so it "
    "keeps its initial values.",
    repair="self.attend_to_memory(self.norm_2(x), memory, memory_mask, source)",
    address="mlx#1636",
    test="After one backward pass, every parameter has a nonzero gradient.",
)
