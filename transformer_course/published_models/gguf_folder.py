"""Convert a GGUF file of a Llama into a folder in the Hub's format: configuration, tensors and tokenizer.

GGUF is the format of llama.cpp: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. One file contains the
options, the tokenizer and the tensors, which may be quantized. The names of options and tensors differ from the Hub's
names, and the query and key projections have a different row order.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFReader, dequantize
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.pretrained.hub import write_model

CONTROL = 3
"""GGUF type of control tokens, such as the tokens that start and end a text."""
SPLITS_DIGITS = {"gpt-2": False, "smollm": True}
"""For each supported pre-tokenizer, whether it splits numbers into single digits."""
NAMES = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""The Hub's names of the tensors outside the layers, and of the modules in a layer."""


def convert_gguf(path: Path, folder: Path) -> None:
    """Write the model in a GGUF file to a folder that ``TextGenerator.load`` reads.

    Matrices are written in float16, which preserves quantized weights to three decimals.

    Raises:
        ValueError: The file is corrupted, is not a Llama, or contains unsupported tensors or an unsupported tokenizer.
    """
    try:
        file = GGUFFile(GGUFReader(path))
    except (ValueError, IndexError, KeyError, UnicodeDecodeError, OverflowError) as error:
        raise ValueError(f"{path.name} is not a valid GGUF file: {error}") from error
    if (architecture := file.get("general.architecture")) != "llama":
        raise ValueError(f"{path.name} must have the architecture llama; got {architecture!r}")
    tensors = dict(file.tensors())
    tokenizer = file.tokenizer()
    write_model(folder, file.options(tied="lm_head.weight" not in tensors), tensors)
    atomic_write_text(folder / "tokenizer.json", tokenizer.to_str(pretty=True))
    if template := file.get("tokenizer.chat_template", ""):
        atomic_write_text(folder / "chat_template.jinja", template)


class GGUFFile:
    """Options, tensors and tokenizer of a GGUF file, with the Hub's names.

    Args:
        reader: Reader of the open file.
    """

    def __init__(self, reader: GGUFReader) -> None:
        self.reader = reader

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of an option.

        Raises:
            ValueError: The option is missing from the file, and there is no default.
        """
        field = self.reader.get_field(key)
        if field is None and default is None:
            raise ValueError(f"the GGUF file has no metadata key {key}")
        return default if field is None else field.contents()

    @property
    def heads(self) -> tuple[int, int]:
        """The numbers of query heads and key/value heads."""
        n_heads = self.get("llama.attention.head_count")
        return n_heads, self.get("llama.attention.head_count_kv", n_heads)

    def options(self, tied: bool) -> dict[str, Any]:
        """Return the content of ``config.json``.

        Args:
            tied: Whether the output layer shares the weights of the embeddings.
        """
        n_heads, n_kv_heads = self.heads
        d_model = self.get("llama.embedding_length")
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": len(self.get("tokenizer.ggml.tokens")),
            "hidden_size": d_model,
            "intermediate_size": self.get("llama.feed_forward_length"),
            "num_hidden_layers": self.get("llama.block_count"),
            "num_attention_heads": n_heads,
            "num_key_value_heads": n_kv_heads,
            "head_dim": self.get("llama.attention.key_length", d_model // n_heads),
            "max_position_embeddings": self.get("llama.context_length"),
            "rms_norm_eps": _shortest(self.get("llama.attention.layer_norm_rms_epsilon")),
            "rope_theta": _shortest(self.get("llama.rope.freq_base", 10000.0)),
            "hidden_act": "silu",
            "tie_word_embeddings": tied,
            "bos_token_id": self.get("tokenizer.ggml.bos_token_id"),
            "eos_token_id": self.get("tokenizer.ggml.eos_token_id"),
        }

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the dequantized tensors with their names on the Hub.

        Raises:
            ValueError: The name of a tensor is unknown for this architecture.
        """
        n_heads, n_kv_heads = self.heads
        for tensor in self.reader.tensors:
            weight = dequantize(tensor.data, tensor.tensor_type)
            if ".attn_q." in tensor.name:
                weight = halves_from_pairs(weight, n_heads)
            elif ".attn_k." in tensor.name:
                weight = halves_from_pairs(weight, n_kv_heads)
            dtype = torch.float32 if weight.ndim == 1 else torch.float16
            yield hub_name(tensor.name), torch.from_numpy(np.array(weight)).to(dtype)

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer, which uses byte-level BPE as in GPT-2.

        Raises:
            ValueError: The tokenizer is not supported.
        """
        kind, pre_tokenizer = self.get("tokenizer.ggml.model"), self.get("tokenizer.ggml.pre", "gpt-2")
        if kind != "gpt2" or pre_tokenizer not in SPLITS_DIGITS:
            known = " or ".join(map(repr, SPLITS_DIGITS))
            raise ValueError(f"the tokenizer must be 'gpt2' with {known}; got {kind!r} with {pre_tokenizer!r}")
        tokens, types = self.get("tokenizer.ggml.tokens"), self.get("tokenizer.ggml.token_type")
        merges = [tuple(merge.split(" ")) for merge in self.get("tokenizer.ggml.merges")]
        tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
        steps: list[pre_tokenizers.PreTokenizer] = [pre_tokenizers.ByteLevel(add_prefix_space=False)]
        if SPLITS_DIGITS[pre_tokenizer]:
            steps.insert(0, pre_tokenizers.Digits(individual_digits=True))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
        tokenizer.decoder = decoders.ByteLevel()
        special = [token for token, token_type in zip(tokens, types, strict=True) if token_type == CONTROL]
        tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
        return tokenizer


def hub_name(name: str) -> str:
    """Return the Hub's name for a tensor of a GGUF file.

    >>> hub_name("blk.3.attn_q.weight")
    'model.layers.3.self_attn.q_proj.weight'
    """
    if name in NAMES:
        return NAMES[name]
    match name.split("."):
        case ["blk", layer, part, "weight"] if part in LAYER_NAMES:
            return f"model.layers.{layer}.{LAYER_NAMES[part]}.weight"
    raise ValueError(f"the GGUF file contains the tensor {name}, which this library's Llama models do not have")


def halves_from_pairs(weight: NDArray[np.float32], n_heads: int) -> NDArray[np.float32]:
    """Reorder the rows of each head: a rotated pair is adjacent in GGUF but half a head apart on the Hub."""
    rows, columns = weight.shape
    pairs = weight.reshape(n_heads, rows // n_heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def _shortest(value: float) -> float:
    """Return the shortest decimal number that rounds to the same float32 value: 1e-05 for 9.999999747e-06."""
    return float(str(np.float32(value)))
