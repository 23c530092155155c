"""Token sequences in a memory-mapped file, so that a corpus may be larger than memory.

Only the length of each sequence (4 bytes) and its end position in the file (8 bytes) are kept in memory. Including the
order of its batches, a corpus of 10 million pairs takes half a gigabyte of memory; each token takes 4 bytes on disk.
"""

from array import array
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from transformer_lab.atomic_write import atomic_write, naming


class TokenStore:
    """Sequences of token ids on disk, written by ``TokenWriter`` and read by index.

    Args:
        path: The file with the tokens; a separate file next to it contains the index.

    Raises:
        OSError: The file or its index does not exist.
        ValueError: The index is corrupted or does not match the file, for example after an interrupted write.
    """

    def __init__(self, path: Path) -> None:
        try:
            # A memory map is never larger than its file, even if the file's header claims a larger size.
            self.lengths: NDArray[np.uint32] = np.array(np.load(_index_of(path), mmap_mode="r"))
            if self.lengths.dtype != np.uint32 or self.lengths.ndim != 1:
                raise ValueError(
                    f"expected a one-dimensional uint32 array; got {self.lengths.dtype} of shape {self.lengths.shape}"
                )
        except OSError:
            raise
        except Exception as error:  # NumPy's header parser raises many types of errors
            raise ValueError(f"{_index_of(path)} is corrupted: {error}") from error
        self._ends: NDArray[np.int64] = np.cumsum(self.lengths, dtype=np.int64)
        n_tokens = int(self._ends[-1]) if len(self.lengths) else 0
        size = path.stat().st_size
        if size != 4 * n_tokens:
            raise ValueError(f"{path} should contain {n_tokens:,} tokens of 4 bytes but has {size:,} bytes")
        self._tokens = np.memmap(path, np.uint32, "r") if n_tokens else np.empty(0, np.uint32)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> NDArray[np.int64]:
        end = int(self._ends[index])
        return self._tokens[end - int(self.lengths[index]) : end].astype(np.int64)


class TokenWriter:
    """A writer for a ``TokenStore``, one sequence after another.

    The index is written last, so an incomplete store is never read as a complete one.

    Args:
        path: The file, which is overwritten.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lengths = array("I")
        _index_of(path).unlink(missing_ok=True)
        self._file: BinaryIO = path.open("wb")

    def add(self, sequence: Sequence[int]) -> None:
        """Append a sequence."""
        with naming(self._path):
            array("I", sequence).tofile(self._file)
        self._lengths.append(len(sequence))

    def __enter__(self) -> "TokenWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with naming(self._path):
            self._file.close()
        if error is None:
            with atomic_write(_index_of(self._path)) as temporary, temporary.open("wb") as file:
                np.save(file, np.asarray(self._lengths, np.uint32))


def _index_of(path: Path) -> Path:
    return path.with_suffix(".lengths.npy")
