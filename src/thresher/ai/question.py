"""A question: everything a model is told at first, and the key under which its answer is stored.

Our instructions are the system text and depend on the prompt and the schema alone, so nothing in a page can
change them. What others wrote is quoted in the message. The same inputs give the same bytes on every machine.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from thresher.ai.excerpt import Excerpt
from thresher.ai.prompt import Prompt
from thresher.core.errors import InvalidPayload
from thresher.core.schema import Field, Schema

#
# A page knows its own words, but not the mark around them: that is made from a hash of everything quoted,
# and changes when a single character does. So a page can neither open nor close its quotation. Characters
# that no reader sees are left out, because they carry messages past the person who looks at the page.

# Line ends are unified. Removed: control characters, surrogates, private use, and everything Unicode calls
# ignorable (zero width and soft hyphens, bidirectional controls, fillers, variation selectors, tag
# characters).
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


def seen(text: str) -> str:
    """The text as a person sees it. Only for asking: evidence counts in the text as it is stored."""
    return _UNSEEN.sub("", _LINE_ENDS.sub("\n", text))


def mark_of(*contents: str) -> str:
    """The mark around these contents: the same for the same ones, and known to nobody who wrote them."""
    return sha256("\0".join(contents).encode()).hexdigest()[:32]


def fenced(name: str, content: str, mark: str) -> str:
    """The content, quoted."""
    return f"<<<{name} {mark}\n{content}\n{mark} {name}>>>"


MAX_INPUT = 200_000

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Question:
    """`frame` is the prompt that stands below every other one. `inputs` are JSON; `excerpt` is what is shown
    of a page.
    """

    prompt: Prompt
    frame: Prompt
    schema: Schema
    tier: str
    inputs: Mapping[str, Any]
    excerpt: Excerpt | None = None

    @property
    def system(self) -> str:
        return "\n\n".join((self.prompt.text, self.frame.text, "\n".join(_described(self.schema))))

    @property
    def user(self) -> str:
        """Everything from outside, quoted."""
        pieces = {name: seen(text) for name, text in self._pieces()}
        mark = mark_of(*pieces.values())
        return "\n\n".join(fenced(name, text, mark) for name, text in pieces.items())

    @property
    def key(self) -> str:
        """The same for the same question, and for no other: the words asked, the schema, the tier, and
        everything shown, by content.
        """
        asked = [self.prompt.identity, self.frame.identity, self.schema.digest, self.tier]
        shown = [
            [name, sha256(text.encode("utf-8", "surrogatepass")).hexdigest()] for name, text in self._pieces()
        ]
        return sha256(orjson.dumps([asked, shown])).hexdigest()

    def _pieces(self) -> Iterator[tuple[str, str]]:
        if lines := list(_lines({**_about(self.excerpt), **self.inputs})):
            yield "inputs", "\n".join(lines)
        if self.excerpt is not None and self.excerpt.text.strip():
            yield "page", self.excerpt.text
        if self.excerpt is not None and self.excerpt.data:
            yield "data", self.excerpt.data


def _about(excerpt: Excerpt | None) -> dict[str, Any]:
    if excerpt is None:
        return {}
    said = {"url": excerpt.material.url, "headings": [each.title for each in excerpt.headings]}
    return {name: value for name, value in said.items() if value}


def _lines(inputs: Mapping[str, Any]) -> Iterator[str]:
    """One line for each input, by name. A plain text of one line stands as it is, anything else as JSON."""
    left = MAX_INPUT
    for name in sorted(inputs):
        line = f"{name}: {_written(name, inputs[name])}"
        left -= len(line)
        if left < 0:
            raise InvalidPayload(
                f"the inputs have more than {MAX_INPUT:,} characters with {name!r}; pass a page as Material"
            )
        yield line


def _written(name: str, value: Any) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidPayload(f"an input name may only contain a-z, 0-9 and _, got {name!r}")
    try:
        written = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (TypeError, ValueError) as problem:
        raise InvalidPayload(f"the input {name!r} cannot be written as JSON: {problem}") from None
    return value if isinstance(value, str) and _plain(value) else written


def _plain(text: str) -> bool:
    """Whether a text needs no quotation marks to be one: it has one line, and is no JSON that would mean
    something else.
    """
    try:
        orjson.loads(text)
    except ValueError:
        return text.isprintable() and text.strip() == text != ""
    return False


def _described(schema: Schema) -> Iterator[str]:
    if schema.many:
        yield f"The object has one field, items: the list of all of them ({schema.name}), empty if there are none. The fields of each:"
    else:
        yield f"The fields of the object ({schema.name}):"
    yield from (_line(field) for field in schema.fields)


def _line(field: Field) -> str:
    kind = f"list of {field.kind}" if field.many else str(field.kind)
    said = ", ".join((kind, *(("required",) if field.required else ())))
    choices = f" One of: {', '.join(field.choices)}." if field.choices else ""
    return f"- {field.name} ({said})" + (f": {field.says}" if field.says else "") + choices
