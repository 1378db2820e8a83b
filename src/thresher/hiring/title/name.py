"""The name of a role by rules, and whether a name that somebody gives will do: two or three words, without
rank, as people write it.
"""

from itertools import pairwise

from thresher.hiring.technology import family, technologies
from thresher.hiring.title.core import TOOLS, core_of, head_at, title_key, vocabulary

MAX_WORDS = 3  # small words not counted
MAX_SAID = 4  # of a name that is proposed
MAX_LENGTH = 80


def canonical_name(core: str) -> str:
    """What a role with this core is called: its head, and of what stands before it the technology and the
    nearest words.
    """
    return written(_shortened(core.split()))


def proposed_name(said: str) -> str | None:
    """Clean up a proposed name (from a model) where that is certain; None if it is not a name."""
    text = " ".join(said.split())
    if (
        not text
        or len(text) > MAX_LENGTH
        or any(char in text for char in "<>{}[]|\\`\n")
        or not any(map(str.isalpha, text))
    ):
        return None
    core = core_of(text).split()
    if not 1 <= _weight(core) <= MAX_SAID or any(word.isdecimal() for word in core):
        return None
    return written(core)


def written(words: list[str]) -> str:
    """Words as a name is written: "ios developer" is iOS Developer."""
    known = vocabulary()
    text = " ".join(
        word if at and word in known.small else word[:1].upper() + word[1:] for at, word in enumerate(words)
    )
    for plain, right in known.spelled.items():
        if plain in text:
            text = f" {text} ".replace(f" {plain} ", f" {right} ").strip()
    return text


def _shortened(words: list[str]) -> list[str]:
    """The head with what tells it from others: the technology, and the words right before it."""
    if _weight(words) <= MAX_WORDS:
        return words
    head = head_at(words)
    if head + 1 < len(words) and words[head + 1] in vocabulary().small:
        # "head of x and y": what it is about stands behind it.
        return _fitting(words[head:])
    before = words[: head + 1]
    tool = _tool(before)
    kept = [word for word in tool if word not in before[-2:]]
    at = head
    while at > 0 and _weight([*kept, *words[at - 1 : head + 1]]) <= MAX_WORDS:
        at -= 1
    near = before[at:]
    while len(near) > 1 and (near[0] in vocabulary().small or near[0].isdecimal()):
        near = near[1:]
    return near if set(tool) <= set(near) else [*tool, *near]


def _fitting(words: list[str]) -> list[str]:
    """As many words as a name has, and none of the small ones at its end."""
    end = len(words)
    while end > 1 and (_weight(words[:end]) > MAX_WORDS or words[end - 1] in vocabulary().small):
        end -= 1
    return words[:end]


def _weight(words: list[str]) -> int:
    """How many words a name has: small ones do not count, and some pairs are one."""
    known = vocabulary()
    heavy = sum(word not in known.small for word in words)
    return heavy - sum(f"{one} {two}" in known.pairs for one, two in pairwise(words))


def _tool(words: list[str]) -> list[str]:
    """The technology among words that tells most, as words: a language or a framework, else the first."""
    text = " ".join(words)
    found = sorted(technologies(text), key=lambda each: family(each.name) not in TOOLS)
    return title_key(text[found[0].start : found[0].end]).split() if found else []
