"""Answers whose members are in camelCase, for apps whose API has such names: `queryKey`, `pageType`."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, ClassVar, Self, TypeVar

from thresher.admin.plain import jsonable
from thresher.runtime import Runtime
from thresher.web.answer import JSON, Answer, written

T = TypeVar("T")

_SECOND_WORD = re.compile(r"_([a-z0-9])")


def camel(value: Any, as_written: frozenset[str] = frozenset()) -> Any:
    """JSON whose members are in camelCase. Within the members `as_written` a person or a page chose the
    names: they stay.
    """
    return _camel(jsonable(value), as_written)


def _camel(plain: Any, as_written: frozenset[str]) -> Any:
    if isinstance(plain, Mapping):
        return {
            renamed(name): each if name in as_written else _camel(each, as_written)
            for name, each in plain.items()
        }
    if isinstance(plain, list):
        return [_camel(each, as_written) for each in plain]
    return plain.isoformat() if isinstance(plain, date) else plain


def renamed(name: str) -> str:
    """The name of a member in camelCase."""
    return _SECOND_WORD.sub(lambda match: match[1].upper(), name)


class CamelAnswer(Answer[T]):
    """A response whose JSON is a `T` with its members in camelCase. An app names in a class of its own which
    members it leaves as they were written.
    """

    as_written: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    async def of(cls, runtime: Runtime, work: Callable[[], T]) -> Self:
        """Do it on a database thread, and answer with what it returns."""
        body = await runtime.store.run(lambda: written(camel(work(), cls.as_written)))
        return cls(body, media_type=JSON)
