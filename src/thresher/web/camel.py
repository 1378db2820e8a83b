"""Answers whose members are in camelCase, for apps whose API has such names: `queryKey`, `pageType`."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from starlette.responses import Response

from thresher.admin.plain import jsonable
from thresher.runtime import Runtime
from thresher.web.answer import answer

_SECOND_WORD = re.compile(r"_([a-z0-9])")


def camel(value: Any, as_written: frozenset[str] = frozenset()) -> Any:
    """JSON whose members are in camelCase. Within the members `as_written` a person or a page chose the
    names: they stay.
    """
    return _camel(jsonable(value), as_written)


def _camel(plain: Any, as_written: frozenset[str]) -> Any:
    if isinstance(plain, Mapping):
        return {
            _renamed(name): each if name in as_written else _camel(each, as_written)
            for name, each in plain.items()
        }
    if isinstance(plain, list):
        return [_camel(each, as_written) for each in plain]
    return plain.isoformat() if isinstance(plain, date) else plain


def _renamed(name: str) -> str:
    return _SECOND_WORD.sub(lambda match: match[1].upper(), name)


async def camel_answer(
    runtime: Runtime, work: Callable[[], Any], as_written: frozenset[str] = frozenset()
) -> Response:
    """Do it on a database thread, and answer with what it returns."""
    return await answer(runtime.store, lambda: camel(work(), as_written))
