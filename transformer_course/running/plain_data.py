"""Plain data: the values in cases and observations, and their serialization for another process.

Plain data consists of tensors, numbers, strings and None, and of lists, tuples and string-keyed dicts of plain data.
Plain data is serialized as one safetensors file, in which a tensor called ``tree`` contains the JSON of everything that
is not a tensor. Unlike unpickling, reading such a file runs no code.
"""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from safetensors import numpy as arrays
from safetensors.torch import load, save
from torch import Tensor

if TYPE_CHECKING:
    PlainData: TypeAlias = (
        Tensor | int | float | str | bool | list["PlainData"] | tuple["PlainData", ...] | dict[str, "PlainData"] | None
    )
else:
    PlainData = Any  # beartype, which checks annotations in tests and lessons, does not support recursive types
JSON_TYPES = (int, float, str, bool, type(None))
_NUMPY = {np.bool_: bool, np.integer: int, np.floating: float}
MAX_NUMBERS = 50_000_000
"""Maximum number of elements in a tensor. An expanded tensor can have any number of elements without storing them."""
MAX_HEADER_BYTES = 300
"""Maximum size of a tensor's entry in the header of packed data."""
MAX_DIMENSIONS = 16
"""Maximum number of dimensions of a tensor in data whose size is checked."""
DTYPES = {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"}


class NotPlainData(ValueError):
    """The bytes do not contain plain data."""


def to_plain_data(value: Any) -> PlainData:
    """Copy a value as plain data, with ``{"not_plain": type}`` in place of anything that is not plain."""
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    # JSON or a conversion to float may change larger integers
    if type(value) is int and value.bit_length() > 63:
        return {"not_plain": "int of more than 64 bits"}
    if type(value) in JSON_TYPES:
        return value
    if isinstance(value, tuple(_NUMPY)):
        return next(kind(value) for numpy_type, kind in _NUMPY.items() if isinstance(value, numpy_type))
    if isinstance(value, tuple | list):
        return sequence_type(value)(to_plain_data(item) for item in value)
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {key: to_plain_data(item) for key, item in value.items()}
    kind = type(value)
    return {"not_plain": kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"}


def _plain_tensor(tensor: Tensor) -> PlainData:
    if type(tensor) is Tensor and _is_ordinary(tensor):
        return tensor.detach().clone(memory_format=torch.contiguous_format)
    with torch._C.DisableTorchFunctionSubclass():  # never run a method that a learner's subclass overrides
        tensor = tensor.detach()
        if tensor.is_meta or tensor.is_nested or tensor.is_quantized or tensor.numel() > MAX_NUMBERS:
            return {"not_plain": "tensor that does not hold its numbers one by one"}
        dense = tensor.to_dense() if tensor.layout != torch.strided else tensor
        return dense.as_subclass(Tensor).cpu().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)


def _is_ordinary(tensor: Tensor) -> bool:
    """Return whether a tensor is an ordinary dense tensor, which can be copied faster."""
    is_dense = tensor.is_cpu and tensor.layout is torch.strided and not tensor.is_nested and not tensor.is_quantized
    return is_dense and not tensor.is_conj() and not tensor.is_neg() and tensor.numel() <= MAX_NUMBERS


def same(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Return whether two pieces of plain data are equal, with nan equal to nan."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if torch.equal(a, b):  # ten times as fast as allclose
            return True
        if not (a.is_floating_point() or a.is_complex()):
            return False
        return torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance)
    return type(a) is type(b) and bool(a == b)


def sequence_type(value: Any) -> type:
    """Return ``tuple`` for any tuple type and ``list`` for any list type."""
    return tuple if isinstance(value, tuple) else list


def count_numbers(value: object) -> int:
    """Count the numbers in plain data. A string or None counts as one."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, Mapping):
        return sum(map(count_numbers, value.values()))
    return sum(map(count_numbers, value)) if isinstance(value, list | tuple) else 1


def cut_texts(value: Any, length: int) -> Any:
    """Truncate every string in plain data, including dict keys, to a maximum length."""
    if isinstance(value, str):
        return value[:length]
    if isinstance(value, tuple | list):
        return type(value)(cut_texts(item, length) for item in value)
    if isinstance(value, dict):
        return {key[:length]: cut_texts(item, length) for key, item in value.items()}
    return value


def pack(value: Any) -> bytes:
    """Serialize plain data to bytes."""
    tensors: dict[str, Tensor] = {}

    def walk(item: Any) -> Any:
        if isinstance(item, Tensor):
            tensors[str(len(tensors))] = item.contiguous()
            return {"tensor": str(len(tensors) - 1)}
        if isinstance(item, tuple | list):
            return {sequence_type(item).__name__: [walk(i) for i in item]}
        if isinstance(item, dict):
            return {"dict": {key: walk(i) for key, i in item.items()}}
        return item

    tree = json.dumps(walk(to_plain_data(value))).encode()
    tensors["tree"] = torch.frombuffer(bytearray(tree), dtype=torch.uint8)
    try:  # twice as fast as saving tensors, because safetensors does not check arrays for shared memory
        return arrays.save({name: tensor.numpy() for name, tensor in tensors.items()})
    except TypeError:  # numpy has no bfloat16
        return save(tensors)


def check_size(data: bytes, max_tensors: int, max_numbers: int, max_tree_bytes: int) -> None:
    """Check the shapes and sizes in untrusted bytes before unpacking them. Only the header is read.

    Args:
        data: The bytes.
        max_tensors: Maximum number of tensors.
        max_numbers: Maximum number of elements in each tensor.
        max_tree_bytes: Maximum size in bytes of the JSON for everything that is not a tensor.

    Raises:
        NotPlainData: The bytes exceed a limit, contain tensors of other dtypes or are not plain data.
    """
    try:
        length = int.from_bytes(data[:8], "little")
        if length > (max_tensors + 2) * MAX_HEADER_BYTES:
            raise NotPlainData(f"the header must have at most {(max_tensors + 2) * MAX_HEADER_BYTES} bytes")
        header = json.loads(data[8 : 8 + length])
        header.pop("__metadata__", None)
        tree = header.pop("tree")
        kinds = {entry["dtype"] for entry in header.values()}
        shapes = [entry["shape"] for entry in header.values()]
        if tree["dtype"] != "U8" or len(tree["shape"]) != 1 or not 0 <= tree["shape"][0] <= max_tree_bytes:
            raise NotPlainData(f"the JSON tree must have at most {max_tree_bytes} bytes")
        if len(shapes) > max_tensors or kinds - DTYPES:
            raise NotPlainData(f"the data must have at most {max_tensors} tensors, all with supported dtypes")
        for shape in shapes:
            if len(shape) > MAX_DIMENSIONS or any(type(n) is not int or not 0 <= n <= max_numbers for n in shape):
                raise NotPlainData(f"invalid tensor shape {shape}"[:100])
            if math.prod(shape) > max_numbers:
                raise NotPlainData(f"a tensor must have at most {max_numbers} elements")
    except NotPlainData:
        raise
    except Exception as error:  # corrupted or hostile bytes can fail in any way
        raise NotPlainData(f"the bytes have no valid header: {type(error).__name__}") from error


def unpack(data: bytes) -> Any:
    """Deserialize plain data from untrusted bytes.

    Raises:
        NotPlainData: The bytes do not contain plain data.
    """
    try:
        tensors = load(data)
        tree = json.loads(bytes(tensors.pop("tree").numpy()))

        def walk(item: Any) -> Any:
            if not isinstance(item, dict):
                if type(to_plain_data(item)) is type(item) and type(item) in JSON_TYPES:
                    return item
                raise NotPlainData(f"the JSON tree contains an unsupported {type(item).__name__}")
            [(kind, content)] = item.items()
            if kind == "tensor":
                return tensors[content]
            if kind == "dict":
                return {key: walk(i) for key, i in content.items()}
            return {"list": list, "tuple": tuple}[kind](walk(i) for i in content)

        return walk(tree)
    except Exception as error:  # corrupted or hostile bytes can fail in any way
        raise NotPlainData(f"the bytes do not contain plain data: {type(error).__name__}: {error}") from error
