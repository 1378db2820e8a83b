"""Twists that need no site's help: they rewrite a finished answer. A changed layout is a new coat on the same
facts.
"""

import json
import re
from dataclasses import replace
from hashlib import blake2b

from thresher.practice.web.answer import Answer, Ask, Json, made
from thresher.practice.web.knob import Trouble, headers_in

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


def twisted(ask: Ask, answer: Answer) -> Answer:
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


def _relaid(answer: Answer) -> Answer:
    if answer.content_type.startswith("text/html"):
        return made(_dressed(answer.body.decode()).encode(), answer.content_type, modified=answer.modified)
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
