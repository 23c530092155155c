"""Test that the changelog has a short, dated entry, and that the lock file works with any package registry."""

from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_WORDS_IN_TWO_MINUTES = 480


def newest_entry() -> tuple[str, str]:
    """Return the date and the text of the newest changelog entry."""
    entry = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    heading, _, text = entry.partition("\n")
    return heading.partition(" - ")[2], text


def test_newest_changelog_entry_has_a_date():
    day, _ = newest_entry()
    assert date.fromisoformat(day)


def test_newest_changelog_entry_takes_two_minutes_to_read():
    _, text = newest_entry()
    assert len(text.split()) <= MAX_WORDS_IN_TWO_MINUTES


def test_lock_file_contains_no_registry_address():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if "://" in line or line.startswith("-")]
