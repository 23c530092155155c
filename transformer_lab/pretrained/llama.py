"""The layouts of Llama and related models on the hub: Mistral, Qwen 2 and 3, and the text models of Gemma 3."""

from typing import Any

from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.llama_layout import LlamaLayout
from transformer_lab.pretrained.tensor_layout import AddOne

ALL_NORM_NAMES = {
    "input_layernorm": "norm_1",
    "post_attention_layernorm": "post_norm_1",
    "pre_feedforward_layernorm": "norm_2",
    "post_feedforward_layernorm": "post_norm_2",
}
"""Our name for each published norm of a block, if sublayer outputs are normalized as well."""


def _is_local_in_qwen(options: Options, layer: int) -> bool:
    return options.get("use_sliding_window", False) and layer >= options.get("max_window_layers", 0)


def _is_local_in_gemma(options: Options, layer: int) -> bool:
    return (layer + 1) % options.get("sliding_window_pattern", 6) != 0


_LLAMA: dict[str, Any] = {
    "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": None, "head_dim": None, "hidden_act": "silu",
    "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "attention_bias": False,
    "attention_dropout": 0.0, "mlp_bias": False,
}  # fmt: skip
_MISTRAL: dict[str, Any] = {
    "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": None, "hidden_act": "silu",
    "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "attention_dropout": 0.0,
    "sliding_window": 4096,
}  # fmt: skip
_QWEN_2: dict[str, Any] = {
    "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 32, "hidden_act": "silu", "max_position_embeddings": 32768,
    "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "attention_dropout": 0.0, "use_sliding_window": False,
    "sliding_window": 4096, "max_window_layers": 28, "layer_types": None,
}  # fmt: skip
_GEMMA_3: dict[str, Any] = {
    "vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
    "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "tie_word_embeddings": True, "attention_bias": False,
    "attention_dropout": 0.0, "query_pre_attn_scalar": 256, "sliding_window": 4096, "layer_types": None,
    "final_logit_softcapping": None, "attn_logit_softcapping": None, "use_bidirectional_attention": False,
}  # fmt: skip

LLAMA = LlamaLayout("llama", "LlamaForCausalLM", _LLAMA, only={"mlp_bias": False})
"""Llama 1 to 3: Touvron et al. (2023), arXiv:2302.13971; Grattafiori et al. (2024), arXiv:2407.21783."""

MISTRAL = LlamaLayout(
    "mistral", "MistralForCausalLM", _MISTRAL, is_local=lambda options, _: options.values["sliding_window"] is not None
)
"""Mistral: every block has local attention. Jiang et al. (2023), arXiv:2310.06825."""

QWEN_2 = LlamaLayout(
    "qwen2", "Qwen2ForCausalLM", _QWEN_2, settings={"qkv_bias": True}, is_local=_is_local_in_qwen
)  # fmt: skip
"""Qwen 2 and 2.5: queries, keys and values have biases. Yang et al. (2024), arXiv:2407.10671."""

QWEN_3 = LlamaLayout(
    "qwen3", "Qwen3ForCausalLM", {**_QWEN_2, "head_dim": 128, "attention_bias": False},
    settings={"qk_norm": True}, is_local=_is_local_in_qwen,
)  # fmt: skip
"""Qwen 3: queries and keys are normalized. Yang et al. (2025), arXiv:2505.09388."""

GEMMA_3 = LlamaLayout(
    "gemma3_text", "Gemma3ForCausalLM", _GEMMA_3,
    settings={"norm_placement": "both", "qk_norm": True, "scaled_embeddings": True},
    only={"final_logit_softcapping": None, "attn_logit_softcapping": None, "use_bidirectional_attention": False},
    is_local=_is_local_in_gemma, base=1e6, local_base=1e4, norm_names=ALL_NORM_NAMES, norm_conversion=AddOne(),
)  # fmt: skip
"""The text models of Gemma 3: five of six blocks have local attention. Gemma Team (2025), arXiv:2503.19786."""
