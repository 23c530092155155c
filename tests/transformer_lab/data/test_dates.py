"""Tests that date strings are unambiguous, cover many languages, and never leak from the held-out set."""

import re
import unicodedata
from datetime import date, timedelta

import pytest
from babel.dates import get_date_format, get_month_names

from transformer_lab.data.dates import (
    DIGITS,
    FIRST_DAY,
    LAST_DAY,
    LOCALES,
    STYLES,
    date_pairs,
    is_ambiguous,
    is_held_out,
    write_date,
)

SOME_DAYS = [
    date(year, month, day) for year in (1970, 2003, 2031) for month in range(1, 13) for day in (*range(1, 13), 28)
]


def scripts(text: str) -> set[str]:
    """Return the scripts of the letters in a text, such as Latin or Cyrillic, taken from the letters' Unicode names."""
    return {unicodedata.name(character).split()[0] for character in text if character.isalpha()}


@pytest.mark.parametrize(
    ("locale", "style", "native", "written"),
    [
        ("fr", "long", False, "3 mars 2021"),
        ("ja", "long", False, "2021年3月3日"),
        ("de", "long", False, "3. März 2021"),
        ("en_US", "full", False, "Wednesday, March 3, 2021"),
        ("en_US", "short", False, "en_US 3/3/21"),
        ("en_GB", "short", False, "en_GB 03/03/2021"),
        ("hu", "medium", False, "2021. márc. 3."),
        ("sv", "short", False, "2021-03-03"),
        ("hi", "long", True, "३ मार्च २०२१"),
        ("ar", "medium", True, "ar ٠٣/٠٣/٢٠٢١"),
    ],
)
def test_dates_follow_their_locale_format(locale, style, native, written):
    assert write_date(date(2021, 3, 3), locale, style, native) == written


def test_each_written_date_has_one_meaning():
    meanings: dict[str, set[date]] = {}
    for day in SOME_DAYS:
        for locale in LOCALES:
            for style in STYLES:
                for native in {False, locale in DIGITS}:
                    meanings.setdefault(write_date(day, locale, style, native), set()).add(day)
    assert {written: days for written, days in meanings.items() if len(days) > 1} == {}


@pytest.mark.parametrize(
    ("ambiguous", "texts"),
    [
        (True, ["3/4/21", "03.04.2021", "٣/٤/٢٠٢١", "21. 3. 4."]),
        (False, ["2021-03-04", "2021/3/4", "3 mars 2021", "2021年3月3日", "৩ মার্চ, ২০২১"]),
    ],
)
def test_numeric_dates_are_ambiguous_unless_year_is_first(ambiguous, texts):
    assert [is_ambiguous(text) for text in texts] == [ambiguous] * len(texts)


def test_two_digit_year_is_unambiguous():
    assert FIRST_DAY.replace(year=FIRST_DAY.year + 100) > LAST_DAY


def test_task_covers_many_languages_scripts_and_digits():
    assert len(LOCALES) == len(set(LOCALES)) >= 20
    names = " ".join(get_month_names("wide", locale=locale)[3] for locale in LOCALES)
    assert len(scripts(names)) >= 6, scripts(names)
    orders = {
        "".join(dict.fromkeys(re.findall("[yMd]", get_date_format("short", locale).pattern))) for locale in LOCALES
    }
    assert orders >= {"dMy", "Mdy", "yMd"}
    assert len({digits for digits in DIGITS.values()}) == len(DIGITS) >= 4
    for digits in DIGITS.values():
        assert [unicodedata.digit(digit) for digit in digits] == list(range(10))


def test_pairs_cover_every_language_style_and_digit():
    pairs = date_pairs(5000, seed=0, split="train")
    text = "".join(source for source, _ in pairs)
    assert scripts(text) >= {"LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI", "THAI", "CJK", "HANGUL"}
    assert all(set(text) & set(digits) for digits in DIGITS.values())
    tags = {source.split()[0] for source, _ in pairs} & set(LOCALES)
    assert len(tags) > 15


def test_target_is_the_iso_8601_date():
    days = {(FIRST_DAY + timedelta(days=n)).isoformat() for n in range((LAST_DAY - FIRST_DAY).days + 1)}
    assert {target for _, target in date_pairs(1000, seed=3, split="train")} <= days


def test_train_and_held_out_strings_never_overlap():
    train = {source for seed in range(3) for source, _ in date_pairs(5000, seed, "train")}
    held_out = {source for seed in range(3) for source, _ in date_pairs(500, seed, "held out")}
    assert train.isdisjoint(held_out)
    assert not any(map(is_held_out, train)) and all(map(is_held_out, held_out))
    assert len(held_out) > 1000


def test_seed_determines_the_pairs():
    assert date_pairs(50, 7, "train") == date_pairs(50, 7, "train")
    assert date_pairs(50, 7, "train") == date_pairs(99, 7, "train")[:50]
    assert date_pairs(50, 7, "train") != date_pairs(50, 8, "train")
