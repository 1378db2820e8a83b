"""Answers that take a site's place, as each answer knob asks, and twists that rewrite a finished answer."""

import json
import re
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from functools import lru_cache
from hashlib import blake2b
from html import escape
from struct import Struct
from types import MappingProxyType

from thresher.practice.web.answer import Json, WebRequest, WebResponse, made, page, redirect
from thresher.practice.web.knob import Knob, Trouble, headers_in
from thresher.practice.web.prose import document
from thresher.practice.web.sites import home
from thresher.practice.web.walls import consent, wall

HTML = {"content-type": "text/html; charset=utf-8"}
WORDS = {
    400: "Bad request",
    401: "Log in first",
    403: "Forbidden",
    404: "Not found",
    410: "Gone",
    429: "Too many requests",
    500: "Something broke",
    502: "Bad gateway",
    503: "Down for maintenance",
    504: "Gateway timeout",
}
MEGABYTE = 1024 * 1024


def stand_in(knob: Knob, ask: WebRequest, site: Callable[[WebRequest], WebResponse]) -> WebResponse:
    """What is served in the place of the site's own answer."""
    return _STAND_INS[knob.trouble](knob, ask) or site(ask)


def _status(knob: Knob, ask: WebRequest) -> WebResponse:  # noqa: ARG001
    status = knob.status or 500
    word = WORDS.get(status, f"Status {status}")
    return page(document(word, f"<h1>{status} {word}</h1><p>{escape(knob.text)}</p>"), status)


def _rate_limited(knob: Knob, ask: WebRequest) -> WebResponse:
    answer = _status(Knob(Trouble.STATUS, status=knob.status or 429, text=knob.text), ask)
    if knob.seconds is None:
        return WebResponse(answer.status, answer.body, HTML)
    # The machine's clock, not the practice web's: whoever obeys reckons with that one.
    later = formatdate(time.time() + knob.seconds, usegmt=True) if knob.dated else f"{knob.seconds:g}"
    return WebResponse(answer.status, answer.body, {**HTML, "retry-after": later})


def _redirect_loop(knob: Knob, ask: WebRequest) -> WebResponse:
    side = "b" if ask.query.get("loop") == "a" else "a"
    return redirect(f"{ask.path}?loop={side}", knob.status or 302)


def _body(knob: Knob, ask: WebRequest) -> WebResponse:  # noqa: ARG001
    return WebResponse(knob.status or 200, knob.text.encode(), {"content-type": knob.kind})


def _oversized(knob: Knob, ask: WebRequest) -> WebResponse:  # noqa: ARG001
    return WebResponse(knob.status or 200, _much(knob.number or 64 * MEGABYTE), HTML)


def _gzip_bomb(knob: Knob, ask: WebRequest) -> WebResponse:  # noqa: ARG001
    return WebResponse(
        knob.status or 200, _bomb(knob.number or 256 * MEGABYTE), {**HTML, "content-encoding": "gzip"}
    )


def _charset(knob: Knob, ask: WebRequest) -> WebResponse:
    text = f"<h1>Café Größe naïve Łódź</h1><p>“Straße” — señor, {escape(ask.host)}</p>"
    body = (
        document("Café", text)
        .replace('<meta charset="utf-8">\n', "")
        .encode(knob.text or "windows-1252", "xmlcharrefreplace")
    )
    return WebResponse(knob.status or 200, body, {"content-type": knob.kind})


@lru_cache(2)
def _much(size: int) -> bytes:
    line = b"<p>This page goes on and on, and there is nothing on it.</p>\n"
    return (line * (size // len(line) + 1))[:size]


@lru_cache(4)
def _bomb(size: int) -> bytes:
    """A gzip body of so many zeros. One megabyte is packed once and its packed form repeated: a bomb must not
    go off here.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = packer.compress(bytes(size % MEGABYTE)) + packer.flush()
    check, piece = 0, bytes(MEGABYTE)
    for _ in range(size // MEGABYTE):
        check = zlib.crc32(piece, check)
    check = zlib.crc32(bytes(size % MEGABYTE), check)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + block * (size // MEGABYTE) + rest + Struct("<II").pack(check, size % 2**32)


_STAND_INS: MappingProxyType[Trouble, Callable[[Knob, WebRequest], WebResponse | None]] = MappingProxyType(
    {
        Trouble.STATUS: _status,
        Trouble.RATE_LIMITED: _rate_limited,
        Trouble.CAPTCHA: lambda knob, ask: wall(ask, knob.text, knob.status or 403),
        Trouble.CONSENT: lambda _, ask: consent(ask),
        Trouble.REDIRECT: lambda knob, _: redirect(knob.text, knob.status or 302),
        Trouble.REDIRECT_LOOP: _redirect_loop,
        Trouble.BODY: _body,
        Trouble.OVERSIZED: _oversized,
        Trouble.GZIP_BOMB: _gzip_bomb,
        Trouble.CHARSET: _charset,
        Trouble.NO_SUCH_SITE: lambda _, ask: home.unregistered(ask),
    }
)


# Twists that need no site's help: they rewrite a finished answer. A changed layout is a new coat on the
# same facts.

_CLASS = re.compile(r'class="([^"]*)"')
_LD = re.compile(r'<script type="application/ld\+json">[^<]*</script>\n?')
_COATS = {
    "li": "div",
    "ul": "section",
    "h1": "p",
    "h2": "div",
    "h3": "span",
    "article": "div",
    "table": "div",
    "tr": "div",
    "td": "span",
}
_TAG = re.compile(rf"<(/?)({'|'.join(_COATS)})(?=[\s>])")


def twisted(ask: WebRequest, answer: WebResponse) -> WebResponse:
    """The answer as this host's knobs would have it."""
    if Trouble.LAYOUT in ask.twists and answer.status == 200:
        answer = _relaid(answer)
    if Trouble.NO_ETAG in ask.twists:
        answer = replace(answer, etag="")
    if Trouble.NO_VALIDATORS in ask.twists:
        answer = replace(answer, etag="", modified=None)
    if added := ask.twists.get(Trouble.HEADERS):
        answer = replace(answer, headers={**answer.headers, **headers_in(added.text)})
    if Trouble.COOKIES in ask.twists:
        cookies = f"visitor={ask.seed}-{ask.count}; Path=/; HttpOnly; SameSite=Lax"
        answer = replace(answer, headers={**answer.headers, "set-cookie": cookies})
    return answer


def _relaid(answer: WebResponse) -> WebResponse:
    if answer.content_type.startswith("text/html"):
        # Every byte is some character of Latin-1, so a page keeps the charset it is written in.
        text = _dressed(answer.body.decode("latin-1"))
        return made(text.encode("latin-1"), answer.content_type, modified=answer.modified)
    if answer.content_type.startswith("application/json"):
        body = json.dumps(_renamed(json.loads(answer.body)), ensure_ascii=False).encode()
        return made(body, answer.content_type, modified=answer.modified)
    return answer


def _dressed(text: str) -> str:
    text = _TAG.sub(lambda match: f"<{match[1]}{_COATS[match[2]]}", _LD.sub("", text))
    return _CLASS.sub(
        lambda match: f'class="c-{blake2b(match[1].encode(), digest_size=3).hexdigest()}"', text
    )


def _renamed(value: Json) -> Json:
    """The top two levels under other names, as after a new version of an API."""
    if isinstance(value, list):
        return {"items": value}
    if not isinstance(value, dict):
        return value
    return {"data": {f"{key}V2": each for key, each in value.items()}, "version": 2}
