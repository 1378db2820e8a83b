"""Which word of a title names the person who does the work: most end alike, the others are listed."""

import re
from functools import lru_cache

from thresher.hiring.title.vocabulary import vocabulary

MIN_LENGTH = 4  # letters
_ENDING = re.compile(
    r"(?:er|or|eer|ist|ian|ant|ent|yst|man|men|woman|women|person|ier|eur|ess|smith|keeper|maker|ographer)$"
)
_NO_ENDING = re.compile(r"(?:ment|ness|less|ower|ater)$")
_CLAUSE = frozenset(("of", "for", "to", "with", "in", "at"))


@lru_cache(16_384)
def is_person(word: str) -> bool:
    """Whether a word says who, not what."""
    known = vocabulary()
    if word in known.people or word in known.wide:
        return True
    if word in known.things or len(word) < MIN_LENGTH or _NO_ENDING.search(word):
        return False
    return _ENDING.search(word) is not None


def head_at(words: list[str] | tuple[str, ...]) -> int:
    """Where the head of a title stands: the last noun for a person before an "of", else the last one at all,
    else the last word.
    """
    end = next((at for at, word in enumerate(words) if at and word in _CLAUSE), len(words))
    for stop in (end, len(words)):
        for at in range(stop - 1, -1, -1):
            if is_person(words[at]):
                return at
    return end - 1


def singular(word: str) -> str:
    """One of them: "developers" is developer. A word that is no noun for people stays as it is: "operations",
    "sales".
    """
    if word.endswith("men") and len(word) > MIN_LENGTH and word not in vocabulary().things:
        return word[:-2] + "an"
    if not word.endswith("s") or word.endswith("ss") or is_person(word):
        return word
    for cut, put in (("ies", "y"), ("wives", "wife"), ("es", ""), ("s", "")):
        one = word.removesuffix(cut) + put
        if word.endswith(cut) and (
            one in vocabulary().people
            or (cut != "es" and is_person(one))
            or (cut == "es" and one.endswith("ess"))
        ):
            return one
    return word
