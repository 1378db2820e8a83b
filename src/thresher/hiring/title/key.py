"""The key of a title: the title as titles are compared, without case, accents and punctuation. C, C++, C# and
.NET stay apart.
"""

import re
import unicodedata

MAX_LENGTH = 300  # characters of a title that are read
MAX_KEY = 200
# Letters and digits of any script. What follows a letter in C++ and C#, and what stands before .NET, belongs
# to the word.
_WORD = re.compile(r"\.net\b|[^\W_]+(?:\+\+|#)?")


def title_key(title: str) -> str:
    """Its words in their order, one space between two; empty for what has none. Long ones are cut: no title
    is that long.
    """
    return " ".join(words_of(title))[:MAX_KEY].rstrip()


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared."""
    bare = unicodedata.normalize("NFKD", text[:MAX_LENGTH]).casefold()
    plain = "".join(char for char in bare if not unicodedata.combining(char))
    return _WORD.findall(
        plain.replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "").replace("&", " and ")
    )
