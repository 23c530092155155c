"""The layout that Llama and related models on the hub share; ``llama`` lists the differences."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from transformer_lab.layers.feed_forward import FeedForwardName
from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.rotary_options import LAYER_TYPES, read_rotary, write_rotary
from transformer_lab.pretrained.tensor_layout import Chain, Conversion, Entry, InterleaveHalves, Layout

FEED_FORWARD_NAMES = {"gate_proj": "w_gate", "up_proj": "w_up", "down_proj": "w_down"}
"""Our name for each published matrix of the feed-forward network."""
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
"""Our name for each published norm of a block, if only sublayer inputs are normalized."""
IDENTITY = Conversion()
MAX_LAYERS = 10_000
"""Upper limit for the number of layers in a model."""


@dataclass(frozen=True)
class LlamaLayout:
    """The layout of Llama or of a related model.

    Args:
        model_type: The ``model_type`` in ``config.json``.
        architecture: The class in ``transformers``.
        defaults: The options of the model type, with their defaults in ``transformers``.
        settings: Settings of ``LanguageModelConfig`` that all models with this layout share.
        only: Options for which this library's models support only one value.
        is_local: A function that returns whether a layer (counting from 0) has local attention, given the options; used
            if there is no ``layer_types``.
        base: Default base of rotary positions.
        local_base: Default base of rotary positions in local blocks. None means the same base as in other blocks.
        norm_names: Our name for each published norm of a block.
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
    norm_conversion: Conversion = IDENTITY

    @property
    def required(self) -> dict[str, Any]:
        """The settings of ``LanguageModelConfig`` that all models with this layout share."""
        common = {"norm_placement": "before", "qk_norm": False, "scaled_embeddings": False}
        if "attention_bias" not in self.defaults:
            common |= {"bias": False}
        return {"positions": "rotary", "norm": "rms", **common, **self.settings}

    @property
    def activation(self) -> str:
        """Name of the option for the activation."""
        return next(name for name in self.defaults if name.startswith("hidden_act"))

    def config_of(self, options: Options, pad_id: int | None = None) -> LanguageModelConfig:
        """Convert a configuration of ``transformers`` into a configuration of this library.

        Args:
            options: The options of ``config.json``.
            pad_id: Padding token to mask, if any.

        Raises:
            ValueError: This library's models do not support some options; the message lists these options.
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
            tie_embeddings=options.get("tie_word_embeddings", False),
            pad_id=pad_id,
            **{"bias": options.get("attention_bias", False), **self.required},
        )

    def options_of(self, config: LanguageModelConfig) -> dict[str, Any]:
        """Convert a configuration of this library into the options of ``config.json``.

        Dropout outside attention is lost, because these layouts have no option for it.
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
            "tie_word_embeddings": config.tie_embeddings,
            self.activation: ACTIVATION_OF_GATED[config.feed_forward],
            **write_rotary(config.rotary_base, config.rotary_scaling),
        }
        local = [config.is_local(i) for i in range(config.n_layers)]
        # Gemma requires a number even if no block has a window.
        no_window = None if self.local_base is None else config.max_length
        optional = {
            "attention_bias": config.bias,
            "mlp_bias": False,
            "query_pre_attn_scalar": config.head_width,
            "use_sliding_window": any(local),
            "sliding_window": no_window if config.window is None else config.window.size,
            "layer_types": ["sliding_attention" if is_local else "full_attention" for is_local in local],
        }
        options |= {name: value for name, value in optional.items() if name in self.defaults}
        if self.local_base is not None:
            options["rope_local_base_freq"] = config.rotary(local=True)[0]
        return options

    def incompatibilities(self, config: LanguageModelConfig) -> list[str]:
        """Return, as ``name=value``, the settings that the layout requires but ``config`` does not have."""
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
            found.append("rotary_scaling=None, or a rotary_base of the window")
        return found

    def layout(self, config: LanguageModelConfig) -> Layout:
        """Return the mapping from the tensors of a checkpoint to our parameters."""
        head = "lm_head.weight"
        entries = [
            Entry("model.embed_tokens.weight", ("embedding.weight",), others=(head,) if config.tie_embeddings else ()),
            Entry("model.norm.weight", ("norm.weight",), self.norm_conversion),
        ]
        if not config.tie_embeddings:
            entries.append(Entry(head, ("head.weight",)))
        for i in range(config.n_layers):
            entries += self._block(config, f"model.layers.{i}", f"blocks.{i}")
        return Layout(entries, "model.", ignored=r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")

    def _block(self, config: LanguageModelConfig, theirs: str, ours: str) -> Iterator[Entry]:
        for their_name, our_name in self.norm_names.items():
            yield Entry(f"{theirs}.{their_name}.weight", (f"{ours}.{our_name}.weight",), self.norm_conversion)
        n_kv_heads = config.n_heads if config.n_kv_heads is None else config.n_kv_heads
        qkv_bias = config.bias if config.qkv_bias is None else config.qkv_bias
        conversions = {
            "q": InterleaveHalves(0, config.n_heads), "k": InterleaveHalves(0, n_kv_heads),
            "v": IDENTITY, "o": IDENTITY,
        }  # fmt: skip
        for x, conversion in conversions.items():
            for kind in ("weight", "bias") if (config.bias if x == "o" else qkv_bias) else ("weight",):
                yield Entry(f"{theirs}.self_attn.{x}_proj.{kind}", (f"{ours}.self_attention.w_{x}.{kind}",), conversion)
        if config.qk_norm:
            conversion = Chain(self.norm_conversion, InterleaveHalves(0))
            for x in "qk":
                name = f"{ours}.self_attention.norm_{x}.weight"
                yield Entry(f"{theirs}.self_attn.{x}_norm.weight", (name,), conversion)
        for their_name, our_name in FEED_FORWARD_NAMES.items():
            yield Entry(f"{theirs}.mlp.{their_name}.weight", (f"{ours}.feed_forward.{our_name}.weight",))

    def _rotary(self, options: Options) -> tuple[float, Any]:
        return read_rotary(options, "rope_theta", self.base, None if self.local_base is None else "full_attention")

    def _window(self, options: Options) -> SlidingWindow | None:
        """Return the blocks with local attention.

        Raises:
            ValueError: A block has an unsupported type, or a local block has no window.
        """
        types = self._layer_types(options)
        if not any(local := tuple(kind == "sliding_attention" for kind in types)):
            return None
        if not options.get("use_sliding_window", True):
            raise ValueError(f"{options.where}: use_sliding_window=False contradicts layer_types={types}")
        size = options.values["sliding_window"]
        if type(size) is not int or size < 1:
            raise ValueError(f"{options.where}: sliding_window must be a positive number of tokens; got {size!r}")
        pattern = (True,) if all(local) else local
        if self.local_base is None:
            return SlidingWindow(size, pattern)
        base, scaling = read_rotary(options, "rope_local_base_freq", self.local_base, "sliding_attention")
        if scaling is not None:
            where = f"{options.where}, rope_parameters, sliding_attention"
            raise ValueError(f"{where}: RoPE scaling is not supported for sliding-window layers; got {scaling}")
        return SlidingWindow(size, pattern, None if (base, scaling) == self._rotary(options) else base)

    def _layer_types(self, options: Options) -> list[str]:
        """Return the type of each layer from ``layer_types`` or, if it is missing, from the layout's default."""
        n_layers, given = options.get("num_hidden_layers", 0), options.values.get("layer_types")
        if n_layers > MAX_LAYERS:
            raise ValueError(f"{options.where}: num_hidden_layers must be at most {MAX_LAYERS:,}; got {n_layers}")
        if "layer_types" not in self.defaults:
            options.require(layer_types=None)
        elif given is not None:
            if not isinstance(given, list) or len(given) != n_layers or not set(given) <= LAYER_TYPES:
                expected = f"num_hidden_layers={n_layers} times one of {', '.join(sorted(LAYER_TYPES))}"
                raise ValueError(f"{options.where}: layer_types must be {expected}; got {given!r}")
            return given
        return ["sliding_attention" if self.is_local(options, i) else "full_attention" for i in range(n_layers)]
