"""Messages about a database without the password of its URL, however it was written there, and however
badly.
"""

import re
from urllib.parse import unquote, unquote_plus

HIDDEN = "***"
_USER = re.compile(
    r"://[^@:/?#]*:(.*)@", re.DOTALL
)  # up to the last @: whoever forgot to encode one in a password must not see it
_OPTION = re.compile(r"(?:ssl)?password\s*=\s*('(?:[^'\\]|\\.)*'|[^&\s]*)", re.IGNORECASE)
_PARTS = re.compile(r"[/?#@:&\s]+")


def redacted(text: str, url: str) -> str:
    """A text, such as an error of the driver, without anything of the passwords in a database URL or
    connection string.
    """
    text = _OPTION.sub(f"password={HIDDEN}", text)
    for secret in sorted(_secrets(url), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    # A parser that took a part of a password for a port quotes that part.
    for part in {part for secret in _secrets(url) for part in _PARTS.split(secret) if part}:
        for quote in "'\"":
            text = text.replace(f"{quote}{part}{quote}", f"{quote}{HIDDEN}{quote}")
    return text


def _secrets(url: str) -> set[str]:
    """Every spelling of every password in a URL."""
    found = [option.strip("'") for option in _OPTION.findall(url)]
    for whole in _USER.findall(url):
        found += [whole, whole.partition("@")[0]]
    return {
        spelled for secret in found for spelled in (secret, unquote(secret), unquote_plus(secret)) if spelled
    }
