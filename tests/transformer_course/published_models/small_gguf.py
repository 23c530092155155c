"""Create a small Llama with a tokenizer in ``transformers``, and write them to a GGUF file as llama.cpp does."""

import json
from pathlib import Path

import gguf
import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEXTS = ["the cat sat on the mat in 1984", "a dog barks at 37 cats", "Die Katze schläft €"]
PARTS = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip
N_HEADS, N_KV_HEADS = 4, 2


def make_tokenizer() -> Tokenizer:
    """Train a tokenizer like SmolLM2's, that is, byte-level BPE with separate digits."""
    tokenizer = Tokenizer(models.BPE())
    digits = pre_tokenizers.Digits(individual_digits=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return tokenizer


def make_model(vocab_size: int, tied: bool = True) -> LlamaForCausalLM:
    """Create a model whose logits depend on every parameter."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=vocab_size, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=N_HEADS,
        num_key_value_heads=N_KV_HEADS, max_position_embeddings=48, rms_norm_eps=1e-5, tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": 50.0}, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float("norm" in name), std=0.2)
    return model


def permuted(weight: np.ndarray, n_heads: int) -> np.ndarray:
    """Reorder rows as llama.cpp does when converting a model from the Hub."""
    return weight.reshape(n_heads, 2, weight.shape[0] // n_heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def write_gguf(
    path: Path,
    model: LlamaForCausalLM,
    tokenizer: Tokenizer,
    quantization: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
    architecture: str = "llama",
    pre: str = "smollm",
    extra: tuple[str, ...] = (),
) -> None:
    """Write a model to a GGUF file. Also quantize the matrices of the model, so that both contain the same numbers."""
    writer, config = gguf.GGUFWriter(path, architecture), model.config
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(N_HEADS)
    writer.add_head_count_kv(N_KV_HEADS)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(50.0)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types([3 if token in SPECIAL else 1 for token, _ in vocabulary])
    writer.add_token_merges([" ".join(merge) for merge in _merges(tokenizer)])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template("{{ messages }}")
    for name, parameter in [*model.named_parameters(), *((name, torch.ones(3)) for name in extra)]:
        weight = parameter.detach().numpy().copy()
        if weight.ndim > 1:
            packed = gguf.quantize(weight, quantization)
            restored = gguf.dequantize(packed, quantization)
            parameter.data.copy_(torch.from_numpy(restored).half())
            heads = {"q_proj": N_HEADS, "k_proj": N_KV_HEADS}.get(name.split(".")[-2])
            weight = gguf.quantize(permuted(weight, heads) if heads else weight, quantization)
            writer.add_tensor(_gguf_name(name), weight, raw_dtype=quantization)
        else:
            writer.add_tensor(_gguf_name(name), weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _merges(tokenizer: Tokenizer) -> list[list[str]]:
    return json.loads(tokenizer.to_str())["model"]["merges"]


def _gguf_name(name: str) -> str:
    others = {
        "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }  # fmt: skip
    if not name.startswith("model.layers."):
        return others.get(name, name)
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    return f"blk.{layer}.{PARTS[part]}.weight"
