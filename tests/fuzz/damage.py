"""Corrupt the bytes, JSON values, numbers or tensor header in a file."""

import copy
import gzip
import json
import random
import re
from collections.abc import Callable
from typing import Any

Damage = Callable[[bytes, random.Random], bytes]

NESTING_DEPTH = 100_000
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, 2**64, 10**12, 10**30, 10**400, 0.5, -1.5, 1e-300, 1e308,
    float("nan"), float("inf"), "", "x", "\ud800", "\n", "../x", [], {}, [1], ["x"], [[]], {"x": 1}, [None], "0" * 9999,
]  # fmt: skip
NUMBERS = [b"", b"-1", b"0", b"nan", b"inf", b"1e999", b"9" * 30, b"9" * 5000, b"x", b"1.5", b'"', b"\n", b"\t", b"\0"]


def flip(content: bytes, rng: random.Random) -> bytes:
    """Flip one bit, or replace a few bytes."""
    changed = bytearray(content)
    if rng.random() < 0.5:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    else:
        for _ in range(rng.randint(1, 20)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(content: bytes, rng: random.Random) -> bytes:
    """Remove the start, the end or a middle part of the content."""
    start = rng.choice([0, rng.randrange(len(content)), rng.randrange(len(content))])
    end = rng.choice([len(content), rng.randrange(start, len(content))])
    return content[:start] + content[end:]


def grow(content: bytes, rng: random.Random) -> bytes:
    """Insert random bytes, zeros or a copy of the start of the content."""
    at, n = rng.choice([len(content), rng.randrange(len(content))]), rng.choice([1, 4, 50, 3000])
    return content[:at] + rng.choice([rng.randbytes(n), bytes(n), content[:n]]) + content[at:]


def replace_number(content: bytes, rng: random.Random) -> bytes:
    """Replace a randomly chosen number in a text."""
    numbers = list(re.finditer(rb"[0-9.]+", content))
    if not numbers:
        return grow(content, rng)
    start, end = rng.choice(numbers).span()
    return content[:start] + rng.choice(NUMBERS) + content[end:]


def change_json(content: bytes, rng: random.Random) -> bytes:
    """Replace, remove or add a value at a random location in a JSON document."""
    if rng.random() < 0.02:
        return b"[" * NESTING_DEPTH + b"]" * NESTING_DEPTH
    changed = _change(json.loads(content), rng)
    return json.dumps(changed).encode()


def change_header(content: bytes, rng: random.Random) -> bytes:
    """Change a safetensors file: either its JSON header, with a matching length field, or only the length field."""
    length = int.from_bytes(content[:8], "little")
    if rng.random() < 0.1:
        return rng.choice([0, 1, length + 1, 2**32, 2**63, 2**64 - 1]).to_bytes(8, "little") + content[8:]
    header = json.loads(content[8 : 8 + length])
    information = header.get("__metadata__", {}).get("info")
    if information and rng.random() < 0.5:
        header["__metadata__"]["info"] = change_json(information.encode(), rng).decode()
        changed = json.dumps(header).encode()
    else:
        changed = change_json(content[8 : 8 + length], rng)
    return len(changed).to_bytes(8, "little") + changed + content[8 + length :]


def compressed(damage: Damage) -> Damage:
    """Return a function that decompresses gzipped content, corrupts it, and compresses it again."""
    return lambda content, rng: gzip.compress(damage(gzip.decompress(content), rng))


BYTES: list[Damage] = [flip, cut, grow]
JSON = [*BYTES, change_json, change_json, change_json]
TEXT = [*BYTES, replace_number]
TENSORS = [*BYTES, change_header, change_header]
GZIPPED = [*BYTES, *map(compressed, TEXT)]


def _change(value: Any, rng: random.Random) -> Any:
    """Replace, remove or add a value at a random location in nested lists and dicts."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.05:
        return rng.choice(VALUES)
    changed = copy.copy(value)
    if isinstance(value, list) and len(value) > 20 and rng.random() < 0.2:
        return rng.sample(value, len(value))
    key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    choice = rng.random()
    if choice < 0.1:
        del changed[key]
    elif choice < 0.15 and isinstance(changed, dict):
        changed[rng.choice(["x", "", *value])] = rng.choice(VALUES)
    else:
        changed[key] = _change(value[key], rng)
    return changed
