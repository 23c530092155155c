"""Transformer Lab: the Transformer in plain PyTorch, and the course that takes it apart.

Set ``TRANSFORMER_LAB_CHECK_SHAPES=1`` before the first import to have every call checked against
its jaxtyping annotation. The tests and the lessons do; it is off otherwise, for speed.
"""

import os

if os.environ.get("TRANSFORMER_LAB_CHECK_SHAPES") == "1":
    from jaxtyping import install_import_hook

    # The numeric tower: where a float is wanted, 0 will do.
    install_import_hook(["transformer_lab"], "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")
