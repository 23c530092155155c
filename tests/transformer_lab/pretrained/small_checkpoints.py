"""Small models in published formats, created by ``transformers`` with distinct sizes and random parameters."""

import json
from pathlib import Path
from typing import NamedTuple

import torch
import transformers
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.transformer import Transformer
from transformer_lab.pretrained.load import load_language_model, load_translation_model

transformers.utils.logging.disable_progress_bar()

PAD, EOS = 36, 3
GPT2 = {
    "vocab_size": 37, "n_embd": 24, "n_head": 6, "n_inner": 19, "n_layer": 2, "n_positions": 29,
    "bos_token_id": None, "eos_token_id": EOS,
}  # fmt: skip
LLAMA = {
    "vocab_size": 37, "hidden_size": 24, "num_attention_heads": 6, "num_key_value_heads": 3, "intermediate_size": 19,
    "num_hidden_layers": 2, "max_position_embeddings": 29, "rms_norm_eps": 1e-3, "bos_token_id": None,
    "eos_token_id": EOS,
}  # fmt: skip
GEMMA3 = LLAMA | {
    "head_dim": 4, "query_pre_attn_scalar": 4, "sliding_window": 4, "sliding_window_pattern": 2,
    "pad_token_id": None,
}  # fmt: skip
MARIAN = {
    "vocab_size": 37, "d_model": 24, "max_position_embeddings": 29, "pad_token_id": PAD, "eos_token_id": EOS,
    "decoder_start_token_id": PAD, "forced_eos_token_id": None, "activation_function": "swish",
    "scale_embedding": True,
    **{f"{side}_{size}": value for side in ["encoder", "decoder"] for size, value in
       [("attention_heads", 6), ("ffn_dim", 19), ("layers", 2)]},
}  # fmt: skip

LLAMA3_ROPE = {
    "rope_type": "llama3", "rope_theta": 30.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 19,
}  # fmt: skip


class Published(NamedTuple):
    """The class and configuration of a model in ``transformers``."""

    model: type[PreTrainedModel]
    config: PretrainedConfig


def gpt2(**overrides: object) -> Published:
    return Published(transformers.GPT2LMHeadModel, transformers.GPT2Config(**GPT2 | overrides))


def llama(**overrides: object) -> Published:
    return Published(transformers.LlamaForCausalLM, transformers.LlamaConfig(**LLAMA | overrides))


def mistral(**overrides: object) -> Published:
    return Published(transformers.MistralForCausalLM, transformers.MistralConfig(**LLAMA | overrides))


def qwen2(**overrides: object) -> Published:
    return Published(transformers.Qwen2ForCausalLM, transformers.Qwen2Config(**LLAMA | overrides))


def qwen3(**overrides: object) -> Published:
    return Published(transformers.Qwen3ForCausalLM, transformers.Qwen3Config(**LLAMA | overrides))


def gemma3(**overrides: object) -> Published:
    return Published(transformers.Gemma3ForCausalLM, transformers.Gemma3TextConfig(**GEMMA3 | overrides))


def marian(**overrides: object) -> Published:
    return Published(transformers.MarianMTModel, transformers.MarianConfig(**MARIAN | overrides))


VARIANTS = {
    "GPT-2": gpt2(),
    "GPT-2, default d_ff": gpt2(n_inner=None),
    "GPT-2, untied": gpt2(tie_word_embeddings=False),
    "GPT-2, large eps": gpt2(layer_norm_epsilon=0.1),
    "GPT-2, relu": gpt2(activation_function="relu"),
    "Llama": llama(),
    "Llama, multi-head": llama(num_key_value_heads=6),
    "Llama, multi-query": llama(num_key_value_heads=1),
    "Llama, short waves": llama(rope_parameters={"rope_type": "default", "rope_theta": 30.0}),
    "Llama, tied": llama(tie_word_embeddings=True),
    "Llama, biases": llama(attention_bias=True),
    "Llama, wide heads": llama(head_dim=10),
    "Llama 3": llama(rope_parameters=LLAMA3_ROPE),
    "Llama, linear scaling": llama(rope_parameters={"rope_type": "linear", "rope_theta": 30.0, "factor": 3.0}),
    "Mistral": mistral(sliding_window=4),
    "Mistral, no window": mistral(sliding_window=None, head_dim=10),
    "Qwen 2": qwen2(),
    "Qwen 2, tied, window above": qwen2(
        use_sliding_window=True, sliding_window=3, max_window_layers=1, tie_word_embeddings=True
    ),
    "Qwen 3": qwen3(head_dim=10),
    "Qwen 3, biases, window below": qwen3(
        head_dim=4, attention_bias=True, use_sliding_window=True, sliding_window=3,
        layer_types=["sliding_attention", "full_attention"],
    ),
    "Gemma 3": gemma3(num_hidden_layers=7, sliding_window_pattern=6, head_dim=10, query_pre_attn_scalar=10),
    "Gemma 3, untied, scaled": gemma3(
        tie_word_embeddings=False,
        rope_parameters={
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 50.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
        },
    ),
    "Marian": marian(),
    "Marian, relu": marian(activation_function="relu"),
    "Marian, two vocabularies": marian(share_encoder_decoder_embeddings=False, decoder_vocab_size=41),
}  # fmt: skip


def drawn(published: Published) -> PreTrainedModel:
    """Create the model with random parameters so large that any conversion mistake changes the logits."""
    torch.manual_seed(1)
    model = published.model(published.config).eval()
    for name, tensor in model.state_dict().items():
        if "embed_positions" not in name:
            small = tensor.dim() == 1 or any(word in name for word in ("bias", "shared", "embed_tokens", "lm_head"))
            is_norm_weight = tensor.dim() == 1 and "weight" in name
            std = 0.2 if tensor.dim() == 1 else (1.0 if small else 2.5) / model.config.hidden_size**0.5
            nn.init.normal_(tensor, mean=float(is_norm_weight), std=std)
    return model


def loaded(folder: Path) -> LanguageModel | Transformer:
    """Load the model in a folder as one of our models."""
    kind = json.loads((folder / "config.json").read_text())["model_type"]
    return load_translation_model(folder) if kind == "marian" else load_language_model(folder)


def texts(n: int, vocab_size: int = PAD) -> Tensor:
    """Return two texts of ``n`` tokens."""
    return torch.randint(vocab_size, (2, n), generator=torch.Generator().manual_seed(n))


def logits(model: nn.Module) -> Tensor:
    """Return the logits of our model or their model for two texts, or for two translations of padded sources."""
    with torch.no_grad():
        if isinstance(model, Transformer | transformers.MarianMTModel):
            source, target = texts(11), texts(7)
            source[1, 8:] = target[:, 0] = PAD
            if isinstance(model, Transformer):
                return model(source, target)
            return model(source, attention_mask=source != PAD, decoder_input_ids=target).logits
        output = model(texts(11))
        return output if isinstance(model, LanguageModel) else output.logits


def difference(ours: nn.Module, theirs: nn.Module) -> float:
    """Return the largest absolute difference between the logits of both models."""
    return (logits(ours) - logits(theirs)).abs().max().item()


def greedy(model: nn.Module, n_tokens: int) -> list[list[int]]:
    """Continue or translate two texts greedily, in a loop that processes the whole text at each step."""
    if isinstance(model, Transformer):
        source, tokens = texts(11), torch.full((2, 1), PAD)
        source[1, 8:] = PAD
        for _ in range(n_tokens):
            tokens = torch.cat([tokens, model(source, tokens)[:, -1:].argmax(dim=-1)], dim=1)
    else:
        tokens = texts(5)
        for _ in range(n_tokens):
            tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(dim=-1)], dim=1)
    return [until_eos(row[-n_tokens:].tolist()) for row in tokens]


def their_greedy(model: PreTrainedModel, n_tokens: int) -> list[list[int]]:
    """Continue or translate the same texts as ``greedy``, using ``transformers``."""
    if isinstance(model, transformers.MarianMTModel):
        inputs = texts(11)
        inputs[1, 8:] = PAD
        mask, start = inputs != PAD, 1
    else:
        inputs = texts(5)
        mask, start = torch.ones_like(inputs), 5
    outputs = model.generate(
        inputs, attention_mask=mask, max_new_tokens=n_tokens, do_sample=False, num_beams=1, pad_token_id=PAD
    )
    return [until_eos(row[start:].tolist()) for row in outputs]


def until_eos(tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(EOS)] if EOS in tokens else tokens
