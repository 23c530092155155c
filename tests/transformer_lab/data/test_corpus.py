"""Tests for reading corpora from plain and gzipped files, and for reporting invalid lines."""

import gzip
from pathlib import Path

import pytest

from transformer_lab.data.corpus import MAX_LISTED_ERRORS, LineErrors, Pair, read_lines, read_pairs

PAIRS = [("ein Hund", "a dog"), ("zwei Hunde", "two dogs"), ("Überall Hunde", "dogs “everywhere”")]


def written(path: Path, data: bytes, gzipped: bool = False) -> Path:
    path.write_bytes(gzip.compress(data) if gzipped else data)
    return path


def table(pairs: list[tuple[str, str]], end: str = "\n") -> bytes:
    return "".join(f"{source}\t{target}{end}" for source, target in pairs).encode()


def sides(pairs: list[tuple[str, str]], end: str = "\n") -> list[bytes]:
    return ["".join(side + end for side in column).encode() for column in zip(*pairs, strict=True)]


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_table_and_file_pair_yield_equal_pairs(tmp_path, gzipped, end):
    expected = [Pair(number, *pair) for number, pair in enumerate(PAIRS, start=1)]
    table_file = written(tmp_path / "corpus.tsv", table(PAIRS, end), gzipped)
    side_files = [written(tmp_path / name, data, gzipped) for name, data in zip("ab", sides(PAIRS, end), strict=True)]
    assert list(read_pairs([table_file], LineErrors())) == expected
    assert list(read_pairs(side_files, LineErrors())) == expected


def test_recognizes_gzip_by_content_not_name(tmp_path):
    assert list(read_lines(written(tmp_path / "plain", b"a\nb\n", gzipped=True))) == [b"a\n", b"b\n"]
    assert list(read_lines(written(tmp_path / "named.gz", b"a\nb\n"))) == [b"a\n", b"b\n"]


def test_splits_lines_only_at_newlines(tmp_path):
    odd = [("a\u2028b\x0bc\x85d", "e\x1cf")]
    assert [pair[1:] for pair in read_pairs([written(tmp_path / "odd", table(odd))], LineErrors())] == odd


def test_removes_byte_order_mark(tmp_path):
    assert list(read_pairs([written(tmp_path / "bom", b"\xef\xbb\xbfa\tb\n")], LineErrors())) == [Pair(1, "a", "b")]


def test_ignores_additional_columns(tmp_path):
    assert list(read_pairs([written(tmp_path / "wide", b"a\tb\tc\td\n")], LineErrors())) == [Pair(1, "a", "b")]


def test_reads_lines_lazily(tmp_path):
    pairs = read_pairs([written(tmp_path / "late", b"a\tb\n" * 100_000 + b"\xff\tb\n")], LineErrors())
    assert next(pairs) == Pair(1, "a", "b")


BAD = b"a\tb\n" + b"\tb\n" + b"a\t \n" + b"no tab\n" + b"\n" + b"\xffa\tb\n" + b"c\td\n"
BAD_LINES = {
    2: "an empty side",
    3: "an empty side",
    4: "no tab, so no translation",
    5: "an empty line",
    6: "not UTF-8 (invalid start byte)",
}


def test_skips_and_reports_bad_table_lines(tmp_path):
    errors = LineErrors()
    assert list(read_pairs([written(tmp_path / "bad.tsv", BAD)], errors)) == [Pair(1, "a", "b"), Pair(7, "c", "d")]
    assert errors.examples == [f"bad.tsv, line {number}: {reason}" for number, reason in BAD_LINES.items()]
    assert errors.counts == {reason: list(BAD_LINES.values()).count(reason) for reason in BAD_LINES.values()}
    assert "skipped 1 × an empty line, 2 × an empty side" in str(errors)


def test_reports_bad_lines_in_file_pair(tmp_path):
    source = written(tmp_path / "x.de", b"a\n\nc\n\xff\ne\n")
    target = written(tmp_path / "x.en", b"A\nB\n \nD\n\xfe\n")
    errors = LineErrors()
    assert list(read_pairs([source, target], errors)) == [Pair(1, "a", "A")]
    assert errors.examples == [
        "x.de and x.en, line 2: an empty side",
        "x.de and x.en, line 3: an empty side",
        "x.de, line 4: not UTF-8 (invalid start byte)",
        "x.en, line 5: not UTF-8 (invalid start byte)",
    ]


def test_rejects_files_with_unequal_lengths(tmp_path):
    short, long = written(tmp_path / "short", b"a\n"), written(tmp_path / "long", b"A\nB\nC\n")
    for paths in ([short, long], [long, short]):
        with pytest.raises(ValueError, match=r"^long has 3 lines but short has 1; line n of one file must translate"):
            list(read_pairs(paths, LineErrors()))


@pytest.mark.parametrize("gzipped", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("drei\tthree\n".encode("utf-16"), "is UTF-16 but must be UTF-8"),
        (b"\xfe\xff" + "drei\tthree\n".encode("utf-16-be"), "is UTF-16 but must be UTF-8"),
        (b"drei\tthree\rvier\tfour\r", "end with CR but must end with LF"),
    ],
    ids=["UTF-16", "UTF-16 BE", "CR"],
)
def test_rejects_utf16_and_bare_cr(tmp_path, content, message, gzipped):
    path = written(tmp_path / "corpus.tsv", gzip.compress(content) if gzipped else content)
    with pytest.raises(ValueError, match=message):
        list(read_pairs([path], LineErrors()))


def test_counts_all_bad_lines_but_lists_some(tmp_path):
    errors = LineErrors()
    assert list(read_pairs([written(tmp_path / "bad", b"\n" * 1234)], errors)) == []
    assert errors.counts == {"an empty line": 1234}
    assert len(errors.examples) == MAX_LISTED_ERRORS
    assert str(errors).endswith(f"… and {1234 - MAX_LISTED_ERRORS:,} more")
    assert str(LineErrors()) == "no bad lines"


@pytest.mark.parametrize("n", [0, 3])
def test_rejects_more_than_two_files(tmp_path, n):
    with pytest.raises(ValueError, match=f"got {n} files"):
        list(read_pairs([tmp_path] * n, LineErrors()))


def test_rejects_truncated_gzip_file(tmp_path):
    whole = gzip.compress(table([(str(i), str(i * i)) for i in range(999)]))
    cut, broken = tmp_path / "cut.gz", tmp_path / "broken.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    broken.write_bytes(whole[:100] + bytes(100) + whole[200:])
    for path in (cut, broken):
        with pytest.raises(ValueError, match=rf"{path.name} is corrupted"):
            list(read_pairs([path], LineErrors()))
