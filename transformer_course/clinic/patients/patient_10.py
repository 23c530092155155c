"""Patient 10."""

from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DecoderOnly
from transformer_lab.attention import grouped_query
from transformer_lab.attention.dot_product import masked_softmax


class GroupedQueryAttention(grouped_query.GroupedQueryAttention):
    """The attention of patient 10."""

    def attend_heads(
        self,
        q: Float[Tensor, "batch n_heads n_query d_k"],
        k: Float[Tensor, "batch n_kv_heads n_key d_k"],
        v: Float[Tensor, "batch n_kv_heads n_key d_k"],
        mask: Bool[Tensor, "*#batch_and_heads #n_query #n_key"] | None = None,
        bias: Float[Tensor, "*#batch_and_heads #n_query #n_key"] | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch n_heads n_query d_k"]:
        """Attend in all heads."""
        scores = q @ k.mT / self.d_k**0.5
        if mask is not None:
            scores = scores * mask
        return masked_softmax(scores, scores != 0) @ v


class Patient(DecoderOnly):
    """Patient 10."""

    number = 10
    complaint = "The loss stops falling after a few steps at any learning rate. Hardly any letter is right."
    part = GroupedQueryAttention


REPORT = Report(
    diagnosis="E",
    bug="Scores are multiplied by the mask, and then every score of 0 is masked out. The queries start at 0, as μP "
    "recommends, so at first all scores are 0: everything is masked out, and no gradient can change that.",
    repair="scores.masked_fill(~mask, −∞): the mask decides what is hidden, not the scores",
    address="TorchCode#17",
    test="Attention equals torch's F.scaled_dot_product_attention, even if the queries are 0.",
)
