"""Take secrets out of text before it is logged or stored: what has the shape of one, and every value that
this process knows to be one.

A log line must not depend on every author of an app, and of a library, having thought of this. So it is done
once, where lines and errors are written. Patterns are linear: the text may be a page's.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any
from urllib.parse import unquote_plus

import orjson

HIDDEN = "***"
# A shorter secret would be found inside ordinary words, and hiding it would garble every message.
MIN_HIDDEN = 6
# The same holds of a single word: a password that is one is hidden only where passwords stand.
MIN_WORD = 12
MAX_KNOWN = 200
MAX_DECODED = 3  # addresses inside of addresses
MAX_NAME = 500
MARGIN = 4_096
MIN_LINE = 16  # a shorter line of a secret of many lines, such as a key file, may be any text
# How a secret may be spelled inside of other texts: each of its letters percent-encoded, also more than once.
_PERCENT = "%(?:25){0,3}"

# "It needs credentials: set the variables ..." is a sentence; its next word is no secret.
_WORDS = (
    r"pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key"
    r"|credentials?(?!:\s{1,3}[a-z]{1,12}\s)|signature|session[_-]?id|x-[a-z-]{1,30}-key"
)
_QUOTE = r"[bru]{0,2}\\{0,4}[\"']"
_SEPARATOR = (
    rf"(?:\\{{0,4}}[\"'])?\s{{0,3}}(?:[:=]|%3[ad])\s{{0,3}}|\\{{0,4}}[\"']\s{{0,3}},\s{{0,3}}(?={_QUOTE})"
)
_QUOTED = rf"(?P<quote>{_QUOTE})(?:[^\"'\\\n]|\\(?![\"'])|\\?[\"'](?=[\w]))*"
_PAIR = re.compile(rf"(?i)(?P<name>(?:{_WORDS})\d{{0,2}}(?:{_SEPARATOR}))(?:{_QUOTED}|[^\s\"'&]+)")
# What follows is a secret to the end of the line, with spaces, commas and semicolons.
_HEADER = re.compile(rf"(?i)(?P<name>(?:authorization|cookie)(?:{_SEPARATOR}))(?:{_QUOTED}|[^\r\n\"']*)")
_BEARER = re.compile(r"(?i)\b(bearer\s{1,3})[\w.~+/=-]{16,}")
_USERINFO = re.compile(
    r"(?<=://)(?P<user>[^\s/?#@:'\"<>]{0,200})"
    r"(?:(?P<colon>:)(?!\d{1,5}[/?#])[^\s'\"<>@]{0,500}(?:@[^\s/?#'\"<>@]{0,500}(?=@))?)?@"
)
_PARAMETER = re.compile(r"(?<=[?&;#])(?P<name>[^\s=&?#;\"'<>]{1,200})=(?P<value>[^\s&#\"'<>]+)")
_OURS = re.compile(r"\b(thr_[0-9a-f]{12})_[\w-]{8,}", re.ASCII)
_TOKENS = re.compile(
    r"(?P<ours>whsec_)[\w+/=-]{6,}|\b(?:sk-[\w-]{16,}|gh[opsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)",
    re.ASCII,
)
_PRIVATE_KEY = re.compile(r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)[^-]*(?:-----END [A-Z ]{0,30}-----)?")
# One of these stands in whatever the patterns find; most lines have none, and are not searched.
_HINTS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "signature",
    "session",
    "authorization",
    "cookie",
    "bearer",
)
_MARKS = ("thr_", "whsec_", "sk-", "gh", "glpat-", "xox", "AKIA", "AIza", "eyJ")
_PASSWORD_OPTION = re.compile(r"(?i)(?:password|passwd|pwd)=([^&\s]+)")
_NAMES = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "signingkey",
    "signature",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "jwt",
    "hmac",
)
# Names of query parameters that are secrets in an address, and ordinary words elsewhere.
_PARAMETERS = frozenset({"key", "sig", "auth", "pass", "pwd", "session", "sessionid", "sid"})


class KnownSecrets:
    """Values that are secrets wherever they stand, as a project file and the environment name them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._literal: dict[str, None] = {}
        self._spelled: re.Pattern[str] | None = None
        self.learn(values)

    def learn(self, values: Iterable[str]) -> None:
        """Hide these from now on. One of a few letters is left alone: it would be found in ordinary words."""
        new = [each for value in values for each in _parts(value) if each not in self._literal]
        if not new:
            return
        for each in sorted(new, key=len, reverse=True)[: MAX_KNOWN - len(self._literal)]:
            self._literal[each] = None
        longest_first = sorted(self._literal, key=len, reverse=True)
        self._literal = dict.fromkeys(longest_first)
        self._spelled = re.compile("|".join(map(_spelled, longest_first)))

    def hidden_in(self, text: str) -> str:
        """The text without them, however their letters are encoded."""
        for each in self._literal:
            if each in text:
                text = text.replace(each, HIDDEN)
        if self._spelled is not None and ("%" in text or "\\" in text or "+" in text):
            text = self._spelled.sub(HIDDEN, text)
        return text


KNOWN = KnownSecrets()


def learn_secrets(values: Iterable[str]) -> None:
    """Make this process know secrets: `redact` hides them from now on."""
    KNOWN.learn(values)


def redact(text: str, known: KnownSecrets | None = None) -> str:
    """A text without what is, or looks like, a secret."""
    return _redacted((known or KNOWN).hidden_in(text), 0)


def redact_start(text: str, most: int, known: KnownSecrets | None = None) -> str:
    """The beginning of a text, redacted. More is read than is told, so that a secret which the limit cuts
    in two is seen whole or not told at all.
    """
    if len(text) <= most:
        return redact(text, known)
    return f"{redact(text[: most + MARGIN], known)[:-MARGIN][:most]}… ({len(text):,} characters)"


def redact_end(text: str, most: int, known: KnownSecrets | None = None) -> str:
    """The same of the end of a text."""
    if len(text) <= most:
        return redact(text, known)
    return f"… {redact(text[-(most + MARGIN) :], known)[MARGIN:]}"


@dataclass(frozen=True, slots=True)
class ValueLimits:
    """How much of a value is told."""

    items: int = 100
    text: int = 4_000
    depth: int = 6


IN_A_LINE, UNBOUNDED = ValueLimits(), ValueLimits(1_000_000, 10_000_000, 1_000)


def redact_value(value: Any, limits: ValueLimits = IN_A_LINE, depth: int = 0) -> Any:
    """A value made of mappings, lists and texts without secrets; anything else is turned into text. What
    stands under the name of a secret is hidden whole.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Mapping) and depth < limits.depth:
        return {
            redact(str(name)[:MAX_NAME]): HIDDEN
            if is_secret_name(str(name)) and each
            else redact_value(each, limits, depth + 1)
            for name, each in islice(value.items(), limits.items)
        }
    if isinstance(value, list | tuple | set | frozenset) and depth < limits.depth:
        return [redact_value(each, limits, depth + 1) for each in islice(value, limits.items)]
    return redact_start(value if isinstance(value, str) else str(value), limits.text)


def redact_json(text: str) -> str:
    """The same of a value that is JSON already, however large. Most hold no secret, and come back as they
    are.
    """
    if redact(text) == text:
        return text
    return orjson.dumps(redact_value(orjson.loads(text), UNBOUNDED)).decode()


def is_secret_name(name: str) -> bool:
    """Tell whether what stands under a name, such as X-Acme-Api-Key, is a secret."""
    plain = "".join(char for char in name.lower() if char.isalnum())
    return plain.endswith(_NAMES) or (plain.startswith("x") and plain.endswith("key"))


def secrets_in_url(url: str) -> list[str]:
    """The passwords of an address; the user where it stands alone, as a token does. In the address of a
    database a password that nobody has encoded may hold any character.
    """
    scheme, _, rest = url.partition("://")
    place = rest.partition("/")[0] if scheme in ("http", "https") else rest
    user, colon, password = place.rpartition("@")[0].partition(":")
    login = password if colon else user if "/" not in user else ""
    return [each for each in (login, *_PASSWORD_OPTION.findall(url)) if each]


def _parts(value: str) -> list[str]:
    """A secret as it may be found: whole, without the word Bearer, and by its lines."""
    lines = [line.strip() for line in value.strip().split("\n")]
    found = [value.strip(), value.strip().rpartition(" ")[2]] if len(lines) < 2 else []
    found += [line for line in lines if len(line) >= MIN_LINE] if len(lines) > 1 else []
    return list(dict.fromkeys(each for each in (*found, *map(unquote_plus, found)) if _can_be_found(each)))


def _can_be_found(secret: str) -> bool:
    return len(secret) >= (MIN_WORD if secret.isalpha() else MIN_HIDDEN)


def _spelled(secret: str) -> str:
    return "".join(map(_letter, secret))


def _letter(char: str) -> str:
    escaped = "".join(f"{_PERCENT}(?i:{byte:02x})" for byte in char.encode("utf-8", "surrogatepass"))
    ways = [re.escape(char), escaped]
    if char == " ":
        ways.append(r"\+")
    if char in "\"'\\/":
        ways.append(r"\\{1,4}" + re.escape(char))
    if ord(char) > 126 or ord(char) < 32:
        ways += [rf"\\{{1,4}}u(?i:{ord(char):04x})", rf"\\{{1,4}}x(?i:{ord(char):02x})"]
    return f"(?:{'|'.join(ways)})"


def _redacted(text: str, depth: int) -> str:
    lower = text.lower()
    if "-----begin" in lower:
        text = _PRIVATE_KEY.sub(rf"\1{HIDDEN}", text)
    if "://" in text:
        text = _USERINFO.sub(_without_login, text)
    if "=" in text:
        text = _PARAMETER.sub(lambda found: _without_value(found, depth), text)
    if any(hint in lower for hint in _HINTS):
        text = _HEADER.sub(_without_secret, text)
        text = _PAIR.sub(_without_secret, text)
        text = _BEARER.sub(rf"\1{HIDDEN}", text)
    if any(mark in text for mark in _MARKS):
        text = _OURS.sub(rf"\1_{HIDDEN}", text)
        text = _TOKENS.sub(lambda found: f"{found['ours'] or ''}{HIDDEN}", text)
    return text


def _without_login(found: re.Match[str]) -> str:
    user = found["user"] if found["colon"] else HIDDEN
    return f"{user}{f':{HIDDEN}' if found['colon'] else ''}@"


def _without_value(found: re.Match[str], depth: int) -> str:
    name = unquote_plus(found["name"]).lower()
    value = found["value"]
    plain = "".join(char for char in name if char.isalnum())
    if plain in _PARAMETERS or is_secret_name(name):
        return f"{found['name']}={HIDDEN}"
    if "%" in value and depth < MAX_DECODED:
        decoded = unquote_plus(value)
        if _redacted(decoded, depth + 1) != decoded:
            return f"{found['name']}={HIDDEN}"
    return found[0]


def _without_secret(found: re.Match[str]) -> str:
    return f"{found['name']}{found['quote'] or ''}{HIDDEN}"
