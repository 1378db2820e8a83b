"""Answers in camelCase, as whoever wrote the first of these systems called the members: `pageType`,
`linkPattern`, `declaredIn`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response

from thresher.admin.plain import jsonable
from thresher.runtime import Runtime
from thresher.web.answer import answer

_SECOND_WORD = re.compile(r"_([a-z0-9])")
# What a person or a page wrote keeps its names.
_AS_WRITTEN = frozenset(("schema", "parameters", "definition", "data", "values", "evidence"))


def camel(value: Any) -> Any:
    """JSON whose members are in camelCase."""
    return _camel(jsonable(value))


def _camel(plain: Any) -> Any:
    if isinstance(plain, Mapping):
        return {_renamed(name): each if name in _AS_WRITTEN else _camel(each) for name, each in plain.items()}
    return [_camel(each) for each in plain] if isinstance(plain, list) else plain


def _renamed(name: str) -> str:
    return _SECOND_WORD.sub(lambda match: match[1].upper(), name)


async def camel_answer(runtime: Runtime, work: Callable[[], Any]) -> Response:
    """Do it on a database thread, and answer with what it returns."""
    return await answer(runtime.store, lambda: camel(work()))
