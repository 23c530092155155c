"""Patient 12."""

from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import EncoderDecoder
from transformer_lab.attention.kv_cache import LayerCache
from transformer_lab.layers import decoder_layer


class PreNormDecoderLayer(decoder_layer.PreNormDecoderLayer):
    """A decoder layer of patient 12."""

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
        x = x + self.dropout(self.self_attention(self.norm_1(x), x, x, mask, self_cache))
        x = x + self.dropout(self.attend_to_memory(self.norm_2(x), memory, memory_mask, source))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))


class Patient(EncoderDecoder):
    """Patient 12."""

    number = 12
    complaint = "It learns a little more slowly than a colleague's model."
    part = PreNormDecoderLayer


REPORT = Report(
    diagnosis="C",
    bug="The self-attention normalizes its query but not its keys and values, so its output grows with the residual "
    "stream.",
    repair="normalized = self.norm_1(x), then self.self_attention(normalized, normalized, normalized, …)",
    address="xformers#233",
    test="A pre-norm sublayer returns the same output for an input and for ten times that input.",
)
