"""Stand-in models that run in another process, so that an attempt can only call them.

If a model's tables were in the same process, a learner's code could read the solution from them: whether the model
leaks, or which outputs depend on which inputs. A job therefore contains only an ID for each model. A ``ServedModel``
sends its inputs to a ``ModelServer``, which holds the tables and returns the output. Requests and replies are
``plain_data``, so neither process can make the other process run code.
"""

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.running import stand_in_models
from transformer_course.running.crash_report import message_of
from transformer_course.running.plain_data import pack, to_plain_data, unpack

_send_request: Callable[[bytes], bytes] | None = None
"""The function that sends a request to the server and returns the reply."""


def connect(send_request: Callable[[bytes], bytes] | None) -> None:
    """Set the function that sends this process's requests to the server and returns the replies."""
    global _send_request
    _send_request = send_request


def without_tables(cases: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[Any]]:
    """In the fields of cases, replace models that attempts may only call with their ids, and also return the models."""
    models: list[Any] = []

    def with_id(value: Any) -> Any:
        if not (stand_in_models.is_description(value) and stand_in_models.is_only_called(value)):
            return value
        models.append(value)
        return {"served": len(models) - 1, "training": stand_in_models.build_model(value).training}

    replaced = []
    for case in cases:
        inputs = {name: with_id(value) for name, value in case["inputs"].items()}
        keywords = {name: with_id(value) for name, value in case["keywords"].items()}
        replaced.append({**case, "inputs": inputs, "keywords": keywords})
    return replaced, models


def is_served(value: object) -> bool:
    """Return whether plain data is the ID of a served model."""
    return isinstance(value, Mapping) and value.keys() == {"served", "training"}


class ServedModel(nn.Module):
    """A model whose tables are in a different process; this process has only its ID.

    Args:
        description: The model's ID and initial training mode, as returned by ``without_tables``.
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        super().__init__()
        self._number = description["served"]
        self.train(description["training"])

    def new_cache(self) -> stand_in_models.TokenCache:
        """Return an empty cache.

        Raises:
            AttributeError: The model has no cache.
        """
        self._request("new_cache")
        return stand_in_models.TokenCache()

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        """Return the model's output, differentiable with respect to its inputs."""
        floats = [i for i, value in enumerate(inputs) if isinstance(value, Tensor) and value.is_floating_point()]
        if len(floats) == 1:
            return _Call.apply(self, floats[0], inputs[floats[0]], *inputs)  # type: ignore[no-untyped-call]
        return self._request("call", *inputs, **keywords)

    def _request(self, operation: str, *inputs: Any, **keywords: Any) -> Any:
        """Send a request to the server and return the output; raise the error that the server reports."""
        caches = [v for v in (*inputs, *keywords.values()) if isinstance(v, stand_in_models.TokenCache)]
        request = {
            "operation": operation,
            "model": self._number,
            "training": self.training,
            # the server's model should draw the random numbers that a local model would draw
            "random_state": torch.get_rng_state() if self.training else None,
            "inputs": [_encoded(value) for value in inputs],
            "keywords": {name: _encoded(value) for name, value in keywords.items()},
        }
        if _send_request is None:
            raise RuntimeError("no model server is connected; call connect first")
        reply = unpack(_send_request(pack(request)))
        if reply["random_state"] is not None:
            torch.set_rng_state(reply["random_state"])
        for cache, tokens in zip(caches, reply["caches"], strict=False):
            cache.tokens = tokens
        if "error" in reply:
            kind, message = reply["error"]
            error = getattr(builtins, kind, RuntimeError)
            raise (error if isinstance(error, type) and issubclass(error, Exception) else RuntimeError)(message)
        return reply["output"]


class ModelServer:
    """A server that runs the models and answers requests.

    Args:
        models: Descriptions of the models, by ID.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        self._models = [stand_in_models.build_model(description) for description in models]

    def answer(self, request: bytes) -> bytes:
        """Answer an untrusted request. If the request fails, the reply contains the error."""
        caches: list[stand_in_models.TokenCache] = []
        try:
            content = unpack(request)
            operation, random_state = content["operation"], content["random_state"]
            model = self._models[content["model"]].train(content["training"])
            inputs = [_decoded(value, caches) for value in content["inputs"]]
            keywords = {name: _decoded(value, caches) for name, value in content["keywords"].items()}
            with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(operation == "gradient"):
                if random_state is not None:
                    torch.set_rng_state(random_state)
                output = _OPERATIONS[operation](model, *inputs, **keywords)
                state = None if random_state is None else torch.get_rng_state()
            reply = {"output": output, "random_state": state}
        except Exception as error:
            reply = {"error": [type(error).__name__, message_of(error)], "random_state": None}
        return pack({**reply, "caches": [cache.tokens for cache in caches]})


def _call(model: nn.Module, *inputs: Any, **keywords: Any) -> Any:
    return model(*inputs, **keywords)


def _new_cache(model: Any) -> None:
    model.new_cache()


def _gradient(model: nn.Module, index: int, upstream: Tensor, *inputs: Any) -> Tensor:
    """Return the gradient of one input for a given upstream gradient."""
    values = [*inputs]
    values[index] = values[index].detach().requires_grad_()
    return torch.autograd.grad(model(*values), values[index], upstream)[0]


_OPERATIONS: dict[str, Callable[..., Any]] = {"call": _call, "new_cache": _new_cache, "gradient": _gradient}


def _encoded(value: Any) -> Any:
    if isinstance(value, stand_in_models.TokenCache):
        return {"token_cache": value.tokens}
    return to_plain_data(value)


def _decoded(value: Any, caches: list[stand_in_models.TokenCache]) -> Any:
    if isinstance(value, dict) and value.keys() == {"token_cache"}:
        caches.append(cache := stand_in_models.TokenCache())
        cache.tokens = value["token_cache"]
        return cache
    return value


class _Call(torch.autograd.Function):
    """A differentiable call with one float input, compatible with ``torch.func`` and ``vmap``."""

    @staticmethod
    def forward(model: ServedModel, index: int, x: Tensor, *inputs: Any) -> Any:
        return model._request("call", *inputs[:index], x, *inputs[index + 1 :])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.model, ctx.index, _, *ctx.others = inputs
        ctx.save_for_backward(inputs[2])

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Any:
        [x] = ctx.saved_tensors
        gradient = _Gradient.apply(ctx.model, ctx.index, upstream, x, *ctx.others)  # type: ignore[no-untyped-call]
        return None, None, gradient, *[None] * len(ctx.others)

    @staticmethod
    def vmap(info: Any, in_dims: Any, model: ServedModel, index: int, x: Tensor, *inputs: Any) -> Any:
        rows = [_Call.apply(model, index, row, *inputs) for row in x.unbind(in_dims[2])]  # type: ignore[no-untyped-call]
        return torch.stack(rows), 0


class _Gradient(torch.autograd.Function):
    """The gradient of a ``_Call``, without a backward pass, so second derivatives are not supported."""

    @staticmethod
    def forward(model: ServedModel, index: int, upstream: Tensor, x: Tensor, *inputs: Any) -> Any:
        return model._request("gradient", index, upstream, *inputs[:index], x, *inputs[index + 1 :])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

    @staticmethod
    def vmap(info: Any, in_dims: Any, model: ServedModel, index: int, upstream: Tensor, x: Tensor, *inputs: Any) -> Any:
        def rows(value: Tensor, dim: int | None) -> Sequence[Tensor]:
            return [value] * info.batch_size if dim is None else value.unbind(dim)

        pairs = zip(rows(upstream, in_dims[2]), rows(x, in_dims[3]), strict=True)
        gradients = [_Gradient.apply(model, index, *pair, *inputs) for pair in pairs]  # type: ignore[no-untyped-call]
        return torch.stack(gradients), 0
