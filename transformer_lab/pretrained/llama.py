"""The layouts of Llama and its relatives on the hub: Mistral, Qwen 2 and 3, and the text models of Gemma 3.

They differ in a few options and names, which are written down as data: a ``LlamaLayout`` for each.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from transformer_lab.layers.feed_forward import FeedForwardName
from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.rotary_options import LAYER_TYPES, read_rotary, write_rotary
from transformer_lab.pretrained.tensor_layout import AddOne, Chain, Conversion, Entry, InterleaveHalves, Layout

FEED_FORWARD_NAMES = {"gate_proj": "w_gate", "up_proj": "w_up", "down_proj": "w_down"}
"""Names of the feed-forward network's matrices there and here."""
GATED_OF_ACTIVATION: dict[str, FeedForwardName] = {
    "silu": "swiglu",
    "swish": "swiglu",
    "gelu_pytorch_tanh": "geglu",
    "gelu_new": "geglu",
}
"""This library's gated feed-forward network for each activation of ``transformers``."""
ACTIVATION_OF_GATED = {"swiglu": "silu", "geglu": "gelu_pytorch_tanh"}
"""The activation of ``transformers`` for each gated feed-forward network of this library."""
NORM_NAMES = {"input_layernorm": "norm_1", "post_attention_layernorm": "norm_2"}
"""Names of a block's norms there and here, where only inputs are normalised."""
ALL_NORM_NAMES = {
    "input_layernorm": "norm_1",
    "post_attention_layernorm": "post_norm_1",
    "pre_feedforward_layernorm": "norm_2",
    "post_feedforward_layernorm": "post_norm_2",
}
"""Names of a block's norms there and here, where what is added is normalised as well."""
AS_IT_IS = Conversion()


@dataclass(frozen=True)
class LlamaLayout:
    """The layout of Llama, or of one of its relatives.

    Args:
        model_type: Its name in ``config.json``.
        architecture: Its class in ``transformers``.
        defaults: The options that it has, with their defaults in ``transformers``.
        settings: Settings of ``LanguageModelConfig`` that every such model has.
        only: Options of which this library's models support one value only.
        is_local: Returns from the options whether a layer, counted from 0, has a window, where ``layer_types`` does not
            say it.
        base: Base of rotary positions by default.
        local_base: Base of rotary positions in local blocks by default. None: it is that of the others.
        norm_names: Names of a block's norms there and here.
        norm_conversion: How the scales of norms are stored.
    """

    model_type: str
    architecture: str
    defaults: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    only: Mapping[str, Any] = field(default_factory=dict)
    is_local: Callable[[Options, int], bool] = lambda options, layer: False
    base: float = 10000.0
    local_base: float | None = None
    norm_names: Mapping[str, str] = field(default_factory=lambda: NORM_NAMES)
    norm_conversion: Conversion = AS_IT_IS

    @property
    def required(self) -> dict[str, Any]:
        """All settings of ``LanguageModelConfig`` that every such model has."""
        usual = {"norm_placement": "before", "qk_norm": False, "scaled_embeddings": False}
        if "attention_bias" not in self.defaults:
            usual |= {"bias": False}
        return {"positions": "rotary", "norm": "rms", **usual, **self.settings}

    @property
    def activation(self) -> str:
        """Name of the option for the activation."""
        return next(name for name in self.defaults if name.startswith("hidden_act"))

    def config_of(self, options: Options, pad_id: int | None = None) -> LanguageModelConfig:
        """Convert a configuration of ``transformers`` into one of this library.

        Args:
            options: The options of ``config.json``.
            pad_id: Padding token to mask, if any.

        Raises:
            ValueError: Options have values that this library's models do not support; all of them are named.
        """
        options = Options({**self.defaults, **options.values}, options.where)
        options.require(**self.only)
        d_model, n_heads = options.get("hidden_size", 0), options.get("num_attention_heads", 0)
        d_k = options.get("head_dim", d_model // max(n_heads, 1))
        if "query_pre_attn_scalar" in self.defaults:
            options.require_equal(query_pre_attn_scalar=options.values["query_pre_attn_scalar"], head_dim=d_k)
        base, scaling = self._rotary(options)
        return LanguageModelConfig(
            vocab_size=options.get("vocab_size", 0),
            d_model=d_model,
            n_heads=n_heads,
            n_kv_heads=options.get("num_key_value_heads", n_heads),
            d_k=None if d_k * n_heads == d_model else d_k,
            d_ff=options.get("intermediate_size", 0),
            n_layers=options.get("num_hidden_layers", 0),
            max_length=options.get("max_position_embeddings", 0),
            dropout=0.0,
            attention_dropout=float(options.get("attention_dropout", 0.0)),
            rotary_base=base,
            rotary_scaling=scaling,
            window=self._window(options),
            norm_eps=options.get("rms_norm_eps", 1e-6),
            feed_forward=options.one_of(self.activation, "silu", GATED_OF_ACTIVATION),
            tied=options.get("tie_word_embeddings", False),
            pad_id=pad_id,
            **{"bias": options.get("attention_bias", False), **self.required},
        )

    def options_of(self, config: LanguageModelConfig) -> dict[str, Any]:
        """Convert a configuration of this library into the options of ``config.json``.

        Dropout outside attention is lost: these layouts have no option for it.
        """
        options = {
            "model_type": self.model_type,
            "architectures": [self.architecture],
            "vocab_size": config.vocab_size,
            "hidden_size": config.d_model,
            "num_attention_heads": config.n_heads,
            "num_key_value_heads": config.n_heads if config.n_kv_heads is None else config.n_kv_heads,
            "head_dim": config.head_width,
            "intermediate_size": config.d_ff,
            "num_hidden_layers": config.n_layers,
            "max_position_embeddings": config.max_length,
            "attention_dropout": config.attention_dropout,
            "rms_norm_eps": config.norm_eps,
            "tie_word_embeddings": config.tied,
            self.activation: ACTIVATION_OF_GATED[config.feed_forward],
            **write_rotary(config.rotary_base, config.rotary_scaling),
        }
        own = {"attention_bias": config.bias, "mlp_bias": False, "query_pre_attn_scalar": config.head_width}
        options |= {name: value for name, value in own.items() if name in self.defaults}
        if self.local_base is not None:
            options["rope_local_base_freq"] = config.rotary(local=True)[0]
        return options | self._window_options(config)

    def incompatibilities(self, config: LanguageModelConfig) -> list[str]:
        """Return the options, as ``name=value``, that the layout requires and ``config`` lacks; none if it fits."""
        required = dict(self.required)
        qkv_bias = required.pop("qkv_bias", config.bias)
        found = [f"{name}={value!r}" for name, value in required.items() if getattr(config, name) != value]
        if config.feed_forward not in ACTIVATION_OF_GATED:
            found.append(f"feed_forward={' or '.join(map(repr, ACTIVATION_OF_GATED))}")
        if (config.bias if config.qkv_bias is None else config.qkv_bias) != qkv_bias:
            found.append(f"qkv_bias={qkv_bias}")
        window = config.window
        if window is not None and "sliding_window" not in self.defaults:
            found.append("window=None")
        elif window is not None and "layer_types" not in self.defaults and not all(window.pattern):
            found.append("window.pattern=(True,)")
        if window is not None and window.rotary_base is not None and self.local_base is None:
            found.append("window.rotary_base=None")
        if window is not None and self.local_base is not None and config.rotary(local=True)[1] is not None:
            found.append("window.rotary_base for local blocks, where rotary_scaling is set")
        return found

    def layout(self, config: LanguageModelConfig) -> Layout:
        """Return which tensor of a checkpoint holds which parameters of ours."""
        head = "lm_head.weight"
        entries = [
            Entry("model.embed_tokens.weight", ("embedding.weight",), others=(head,) if config.tied else ()),
            Entry("model.norm.weight", ("norm.weight",), self.norm_conversion),
        ]
        if not config.tied:
            entries.append(Entry(head, ("head.weight",)))
        for i in range(config.n_layers):
            entries += self._block(config, f"model.layers.{i}", f"blocks.{i}")
        return Layout(entries, "model.", ignored=r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")

    def _block(self, config: LanguageModelConfig, theirs: str, ours: str) -> Iterator[Entry]:
        for there, here in self.norm_names.items():
            yield Entry(f"{theirs}.{there}.weight", (f"{ours}.{here}.weight",), self.norm_conversion)
        n_kv_heads = config.n_heads if config.n_kv_heads is None else config.n_kv_heads
        qkv_bias = config.bias if config.qkv_bias is None else config.qkv_bias
        conversions = {
            "q": InterleaveHalves(0, config.n_heads), "k": InterleaveHalves(0, n_kv_heads),
            "v": AS_IT_IS, "o": AS_IT_IS,
        }  # fmt: skip
        for x, conversion in conversions.items():
            for kind in ("weight", "bias") if (config.bias if x == "o" else qkv_bias) else ("weight",):
                yield Entry(f"{theirs}.self_attn.{x}_proj.{kind}", (f"{ours}.self_attention.w_{x}.{kind}",), conversion)
        if config.qk_norm:
            conversion = Chain(self.norm_conversion, InterleaveHalves(0))
            for x in "qk":
                name = f"{ours}.self_attention.norm_{x}.weight"
                yield Entry(f"{theirs}.self_attn.{x}_norm.weight", (name,), conversion)
        for there, here in FEED_FORWARD_NAMES.items():
            yield Entry(f"{theirs}.mlp.{there}.weight", (f"{ours}.feed_forward.{here}.weight",))

    def _rotary(self, options: Options) -> tuple[float, Any]:
        return read_rotary(options, "rope_theta", self.base, None if self.local_base is None else "full_attention")

    def _window(self, options: Options) -> SlidingWindow | None:
        """Return which blocks are local.

        Raises:
            ValueError: A block is of another type, or a local one has no window.
        """
        types = self._layer_types(options)
        if not any(local := tuple(kind == "sliding_attention" for kind in types)):
            return None
        options.require(use_sliding_window=True)
        size = options.values["sliding_window"]
        if type(size) is not int or size < 1:
            raise ValueError(f"{options.where}: sliding_window must be a positive number of tokens; got {size!r}")
        pattern = (True,) if all(local) else local
        if self.local_base is None:
            return SlidingWindow(size, pattern)
        base, scaling = read_rotary(options, "rope_local_base_freq", self.local_base, "sliding_attention")
        if scaling is not None:
            raise ValueError(
                f"{options.where}: this library has no models with scaled rotary positions in local layers"
            )
        return SlidingWindow(size, pattern, None if (base, scaling) == self._rotary(options) else base)

    def _layer_types(self, options: Options) -> list[str]:
        """Return the type of each layer: what ``layer_types`` says, or what each layout does without it."""
        n_layers, given = options.get("num_hidden_layers", 0), options.values.get("layer_types")
        if "layer_types" not in self.defaults:
            options.require(layer_types=None)
        elif given is not None:
            if not isinstance(given, list) or len(given) != n_layers or not set(given) <= LAYER_TYPES:
                wanted = f"num_hidden_layers={n_layers} times one of {', '.join(sorted(LAYER_TYPES))}"
                raise ValueError(f"{options.where}: layer_types must be {wanted}; got {given!r}")
            return given
        return ["sliding_attention" if self.is_local(options, i) else "full_attention" for i in range(n_layers)]

    def _window_options(self, config: LanguageModelConfig) -> dict[str, Any]:
        window = config.window
        if "layer_types" not in self.defaults:
            return (
                {"sliding_window": None if window is None else window.size} if "sliding_window" in self.defaults else {}
            )
        types = ["sliding_attention" if config.is_local(i) else "full_attention" for i in range(config.n_layers)]
        options = {"layer_types": types, "sliding_window": config.max_length if window is None else window.size}
        return options | ({"use_sliding_window": window is not None} if "use_sliding_window" in self.defaults else {})


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
"""Mistral: every block is local. Jiang et al. (2023), arXiv:2310.06825."""

QWEN_2 = LlamaLayout(
    "qwen2", "Qwen2ForCausalLM", _QWEN_2, settings={"qkv_bias": True}, is_local=_is_local_in_qwen
)  # fmt: skip
"""Qwen 2 and 2.5: queries, keys and values have biases. Yang et al. (2024), arXiv:2407.10671."""

QWEN_3 = LlamaLayout(
    "qwen3", "Qwen3ForCausalLM", {**_QWEN_2, "head_dim": 128, "attention_bias": False},
    settings={"qk_norm": True}, is_local=_is_local_in_qwen,
)  # fmt: skip
"""Qwen 3: queries and keys are normalised. Yang et al. (2025), arXiv:2505.09388."""

GEMMA_3 = LlamaLayout(
    "gemma3_text", "Gemma3ForCausalLM", _GEMMA_3,
    settings={"norm_placement": "both", "qk_norm": True, "scaled_embeddings": True},
    only={"final_logit_softcapping": None, "attn_logit_softcapping": None, "use_bidirectional_attention": False},
    is_local=_is_local_in_gemma, base=1e6, local_base=1e4, norm_names=ALL_NORM_NAMES, norm_conversion=AddOne(),
)  # fmt: skip
"""The text models of Gemma 3: five blocks of six are local. Gemma Team (2025), arXiv:2503.19786."""
