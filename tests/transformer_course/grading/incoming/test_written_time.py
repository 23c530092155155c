"""Tests for parsing times in many formats, including time zone abbreviations from the tz database."""

from collections import defaultdict
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from babel.dates import get_month_names

from transformer_course.grading.incoming.written_time import (
    ABBREVIATIONS,
    MONTH_LANGUAGES,
    find_zone,
    in_zone,
    read_time,
)

BERLIN = ZoneInfo("Europe/Berlin")
NORTH_AMERICAN = {"CST": -6, "CDT": -5, "PST": -8}
"""Abbreviations that several zones in the tz database use. RFC 5322 defines their meanings."""


def moment(text: str, course_zone: ZoneInfo | None = BERLIN) -> datetime:
    written = read_time(text, course_zone)
    assert written.clock is not None
    local = datetime.combine(written.day, written.clock)
    return local.replace(tzinfo=written.zone) if written.zone else in_zone(local, course_zone)


def test_abbreviations_agree_with_the_tz_database():
    hours = defaultdict(set)
    for name in available_timezones():
        for month in (1, 7):
            there = datetime(2026, month, 15, tzinfo=ZoneInfo(name))
            offset = there.utcoffset()
            if (there.tzname() or "").isalpha() and offset is not None:
                hours[str(there.tzname()).upper()].add(offset / timedelta(hours=1))
    for name, offsets in hours.items():
        if name == "IST":
            assert name not in ABBREVIATIONS and len(offsets) == 3
        else:
            assert {ABBREVIATIONS[name]} == ({NORTH_AMERICAN[name]} if name in NORTH_AMERICAN else offsets), name


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-12 15:58:23.948203 UTC",
        "2026-10-12 17:58:23.948203 CEST",
        "2026-10-12 16:58:23,948203 CET",
        "2026-10-12 11:58:23.9482035 EDT",
        "2026-10-12 15:58:23.948203 GMT",
        "\ufeff2026-10-12T15:58:23.948203Z ",
        "2026-10-12 17:58:23.948203 Europe/Berlin",
        "2026-10-12 11:58:23.948203 america/new york",
        "2026-10-12 17:58:23.948203 MESZ",
        "2026-10-12 17:58:23.948203 W. Europe Daylight Time",
        "2026-10-12 17:58:23.948203 +0200",
        "2026-10-12 17:58:23.948203+02",
        "2026-10-12 21:28:23.948203 UTC+05:30",
        "2026-10-12T17:58:23.948203+02:00[Europe/Berlin]",
        "2026-10-12 12:58:23.948203 -03",
        "2026/10/12 17:58:23.948203",
        "20261012T155823Z",
        "Mon Oct 12 17:58:23 CEST 2026",
        "Mon, 12 Oct 2026 17:58:23 +0200 (CEST)",
        "Oct 12, 2026, 11:58:23 a.m. EDT",
        "12.10.2026 17:58:23",
        "Montag, 12. Oktober 2026, 17:58:23",
        "lundi 12 octobre 2026, 17:58:23",
        "lunes, 12 de octubre de 2026, 17:58:23",
        "lunes, 12 de octubre de 2026, 5:58:23 p. m.",
        "poniedziałek, 12 października 2026, 17:58:23",
        "poniedziałek, 12 październik 2026, 17:58:23",
        "Montag, 12. Oktober 2026, 17:58:23 Uhr",
    ],
)
def test_parses_same_moment_in_many_formats(text: str):
    assert moment(text).timestamp() // 1 == datetime.fromisoformat("2026-10-12T15:58:23+00:00").timestamp()


def test_abbreviation_prefers_course_time_zone():
    assert moment("2026-10-12 15:58 CST", ZoneInfo("Asia/Shanghai")) == moment("2026-10-12 07:58 UTC")
    assert moment("2026-10-12 15:58 CST") == moment("2026-10-12 21:58 UTC")
    assert moment("2026-10-12 15:58 IST", ZoneInfo("Asia/Kolkata")) == moment("2026-10-12 10:28 UTC")
    assert moment("2026-10-12 15:58 IST", ZoneInfo("Europe/Dublin")) == moment("2026-10-12 14:58 UTC")


def test_abbreviation_resolves_the_repeated_hour():
    assert moment("2026-10-25 02:30 CET") - moment("2026-10-25 02:30 CEST") == timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a date"),
        ("soon", "'soon' is not a date"),
        ("2026-13-01 10:00", "month must be"),
        ("2026-10-12 24:30", "hour must be"),
        ("10/12/2026 18:00", "may mean 2026-10-12 or 2026-12-10"),
        ("2026-10-12 15:58 IST", "the time zone 'IST' is unknown or ambiguous; use an offset such as"),
        ("2026-10-12 15:58 Mars/Base", "the time zone 'Mars/Base' is unknown"),
        ("2026-10-12 15:58 ../../etc", "is unknown"),
        ("2026-10-12 15:58 +99:00", "there is no time zone"),
        ("2026-10-12 13:58 PM", "an invalid hour"),
        ("2" * 200, "at most 100 characters"),
    ],
)
def test_rejects_ambiguous_or_invalid_times(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        moment(text)


def test_month_names_are_unambiguous_across_languages():
    numbers: dict[str, int] = {}
    for language in MONTH_LANGUAGES:
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, language).items():
                    assert numbers.setdefault(name.casefold().rstrip("."), number) == number, name


def test_finds_zone_in_any_case():
    assert find_zone("europe/berlin") == BERLIN and find_zone("America/New York") == ZoneInfo("America/New_York")
    assert find_zone("Berlin") is None and find_zone("/etc/passwd") is None
