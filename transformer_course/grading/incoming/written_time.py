"""Parse dates and times, with their time zones, in the formats that people and programs use.

A zone may be an offset (``+02:00``), a name in the tz database (``Europe/Berlin``), one of ``ABBREVIATIONS``, or a
Windows name (``W. Europe Standard Time``). The meaning of an abbreviation in the course's time zone takes precedence:
in a course in ``Asia/Shanghai``, ``CST`` is China Standard Time.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

NORTH_AMERICA: dict[str, float] = {
    "AST": -4,
    "ADT": -3,
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
}
NORTH_AMERICA |= {"PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10, "HDT": -9, "NST": -3.5, "NDT": -2.5}
"""RFC 5322, section 4.3, defines EST to PDT. On other continents, CST, CDT and PST have different meanings."""
EUROPE = {"WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MET": 1, "MEST": 2, "MEZ": 1, "MESZ": 2}
EUROPE |= {"EET": 2, "EEST": 3, "MSK": 3}
AFRICA = {"WAT": 1, "CAT": 2, "SAST": 2, "EAT": 3}
ASIA = {"IDT": 3, "PKT": 5, "WIB": 7, "WITA": 8, "WIT": 9, "HKT": 8, "SGT": 8, "JST": 9, "KST": 9}
OCEANIA = {"AWST": 8, "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11, "CHST": 10, "NZST": 12, "NZDT": 13, "SST": -11}
ABBREVIATIONS: dict[str, float] = {"Z": 0, "UTC": 0, "UT": 0, "GMT": 0, "COORDINATED UNIVERSAL TIME": 0}
ABBREVIATIONS |= {**NORTH_AMERICA, **EUROPE, **AFRICA, **ASIA, **OCEANIA}
"""Time zones by abbreviation, in hours ahead of UTC. IST may be Indian, Israeli or Irish time, so it is missing."""
MONTH_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl")
MAX_TIME_LENGTH = 100
"""Maximum number of characters in a time."""
MAX_OFFSET = timedelta(hours=14)

COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)?")
CLOCK = re.compile(
    r"(?<!\d)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?(?!\d)"
    r"(?:\s*(?P<half>[ap])\.?\s?m\b\.?|\s*uhr\b)?",
    re.IGNORECASE,
)
YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
DAY_FIRST = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
DAY_OR_MONTH_FIRST = re.compile(r"(\d{1,2})([-/])(\d{1,2})\2(\d{4})")
OFFSET = re.compile(
    r"(?:[a-z]{1,5})?\s*(?P<sign>[-+−])(?P<hours>\d{1,2})(?::?(?P<minutes>\d\d))?(?:\s*[(\[].*[)\]]|\s+[a-z]{1,5})?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class WrittenTime:
    """The parts of a written time.

    Args:
        day: The date.
        clock: The time of day, or None if only a date is given.
        zone: The time zone, or None if it is not given.
    """

    day: date
    clock: time | None = None
    zone: tzinfo | None = None


def read_time(text: str, course_zone: ZoneInfo | None = None) -> WrittenTime:
    """Parse a date, with or without a time of day and a time zone.

    Args:
        text: The text, such as ``2026-10-12``, ``2026-10-12 15:58:23.948203 CEST``, ``12.10.2026 18:00`` or
            ``Mon Oct 12 15:58:23 EDT 2026``.
        course_zone: The course's time zone, in which abbreviations are looked up first. None means the local time zone.

    Raises:
        ValueError: The text is not a time or is ambiguous.

    >>> read_time("2026-10-12 15:58 CEST").zone.utcoffset(None)
    datetime.timedelta(seconds=7200)
    """
    words = " ".join(text.replace("\ufeff", " ").split())
    if len(words) > MAX_TIME_LENGTH:
        raise ValueError(f"a time must have at most {MAX_TIME_LENGTH} characters; got {len(words)}")
    words = COMPACT.sub(r"\1-\2-\3 \4:\5:\g<6>", words).replace(": ", " ").removesuffix(":")
    clock = CLOCK.search(words)
    if clock is None:
        return WrittenTime(_date(words, text))
    before, after = words[: clock.start()].rstrip("T ,"), words[clock.end() :].strip(" ,")
    if not re.search(r"\d{4}", before) and (year := re.search(r" ?(\d{4})$", after)):  # format of the `date` command
        before, after = f"{before} {year[1]}", after[: year.start()]
    day, of_day = _date(before, text), _time_of_day(clock, text)
    return WrittenTime(day, of_day, _zone(after, datetime.combine(day, of_day), course_zone) if after else None)


def in_zone(local: datetime, zone: ZoneInfo | None) -> datetime:
    """Attach a time zone to a local time. None means the local time zone."""
    return local.astimezone() if zone is None else local.replace(tzinfo=zone)


def _time_of_day(clock: re.Match[str], text: str) -> time:
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError(f"{text!r} has an invalid hour; write the time as in 2026-10-12 18:00")
    hour = hour % 12 + 12 * (half == "p") if half else hour
    microseconds = int((clock["fraction"] or "0")[:6].ljust(6, "0"))
    return time(hour, int(clock["minute"]), int(clock["second"] or 0), microseconds)


def _date(words: str, text: str) -> date:
    if found := YEAR_FIRST.fullmatch(words):
        return date(int(found[1]), int(found[3]), int(found[4]))
    if found := DAY_FIRST.fullmatch(words):
        return date(int(found[3]), int(found[2]), int(found[1]))
    if found := DAY_OR_MONTH_FIRST.fullmatch(words):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        if first <= 12 and second <= 12 and first != second:
            raise ValueError(
                f"{text!r} is ambiguous: it may mean {year}-{first:02}-{second:02} or {year}-{second:02}-{first:02}"
            )
        return date(year, first, second) if first <= 12 else date(year, second, first)
    numbers = re.findall(r"\d+", words)
    months = [_month_numbers()[word] for word in re.findall(r"[^\W\d_]+", words.casefold()) if word in _month_numbers()]
    if len(numbers) != 2 or not months or {len(number) == 4 for number in numbers} != {True, False}:
        raise ValueError(f"{text!r} is not a date such as 2026-10-12")
    day, year = sorted(numbers, key=len)
    return date(int(year), months[-1], int(day))  # an earlier match may be a weekday: French "mar." is Tuesday


@cache
def _month_numbers() -> dict[str, int]:
    from babel.dates import get_month_names  # imported here because it is slow and rarely needed

    numbers: dict[str, int] = {}
    for language in MONTH_LANGUAGES:
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):  # in Polish, "3 listopada" but "listopad" alone
                names = get_month_names(width, context, language)
                numbers |= {name.casefold().rstrip("."): number for number, name in names.items()}
    return numbers


def _zone(words: str, local: datetime, course_zone: ZoneInfo | None) -> tzinfo:
    if found := OFFSET.fullmatch(words):
        offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
        if offset > MAX_OFFSET:
            raise ValueError(f"there is no time zone {words!r}")
        return timezone(offset if found["sign"] == "+" else -offset)
    name = words.strip("()[]")
    offset_in_course = _offset_in_course(name, local, course_zone)
    if offset_in_course is not None:
        return timezone(offset_in_course)
    if name.upper() in ABBREVIATIONS:
        return timezone(timedelta(hours=ABBREVIATIONS[name.upper()]))
    if found_zone := find_zone(name) or _windows_zone(name):
        return found_zone
    raise ValueError(f"the time zone {name!r} is unknown or ambiguous; use an offset such as +02:00")


def _offset_in_course(name: str, local: datetime, zone: ZoneInfo | None) -> timedelta | None:
    """Return the offset of an abbreviation in the course's zone, at this time of year or half a year later."""
    for shift in (timedelta(), timedelta(days=182)):
        for fold in (0, 1):  # the abbreviation disambiguates the hour that is repeated in fall
            there = in_zone((local + shift).replace(fold=fold), zone)
            if (there.tzname() or "").upper() == name.upper():
                return there.utcoffset()
    return None


def find_zone(name: str) -> ZoneInfo | None:
    """Return the zone with this name in the tz database, ignoring case, or None."""
    known = _zone_names().get(name.replace(" ", "_").casefold())
    return ZoneInfo(known) if known else None


@cache
def _zone_names() -> dict[str, str]:
    return {name.casefold(): name for name in available_timezones()}


def _windows_zone(name: str) -> ZoneInfo | None:
    from babel.core import get_global

    standard = re.sub(r"\b(Daylight|Summer)\b", "Standard", name, flags=re.IGNORECASE).casefold()
    zones = {windows.casefold(): known for windows, known in get_global("windows_zone_mapping").items()}
    return find_zone(zones[standard]) if standard in zones else None
