"""Recorded exchanges: a request and its answer kept in one JSON file, as test suites and proxies write them.

What matters is the answer inside. It is read as the page it was, with its own status and address: a file that
holds a recorded refusal is no success because the file could be opened.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from thresher.core.page import Page

_ADDRESSES = ("uri", "url")


def replayed(page: Page, data: Any) -> Page | None:
    """The page that a recording holds; None where `data` is no recording of one exchange."""
    if not isinstance(data, Mapping):
        return None
    request, answer = data.get("request"), data.get("response", data)
    if not isinstance(request, Mapping) or not isinstance(answer, Mapping) or "body" not in answer:
        return None
    url = next((str(request[name]) for name in _ADDRESSES if isinstance(request.get(name), str)), "")
    status = _status(answer.get("status", answer.get("status_code")))
    if not url or status is None:
        return None
    body, kind = _body(answer["body"])
    headers = {**_headers(answer.get("headers")), **({"content-type": kind} if kind else {})}
    return replace(page, url=url, final_url=url, status=status, headers=headers, body=body)


def _status(value: Any) -> int | None:
    if isinstance(value, Mapping):
        value = value.get("code")
    return value if isinstance(value, int) and 100 <= value <= 599 else None


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name).lower(): str(said[0] if isinstance(said, list) and said else said)
        for name, said in value.items()
    }


def _body(value: Any) -> tuple[bytes, str | None]:
    """The bytes, and their type where the recording has parsed them already."""
    if isinstance(value, Mapping) and isinstance(value.get("string"), str):
        value = value["string"]
    if isinstance(value, str):
        return value.encode(), None
    return orjson.dumps(value), "application/json"
