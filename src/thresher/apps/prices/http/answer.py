"""Answers of the prices app: in camelCase, but for what a person named."""

from collections.abc import Callable
from typing import TypeVar

from thresher.runtime import Runtime
from thresher.web.camel import CamelAnswer

T = TypeVar("T")


class Camel(CamelAnswer[T]):
    """Members in camelCase, and what is not ours as it was written."""

    as_written = frozenset(("attributes", "options", "left_out", "filed"))


async def camel_answer(runtime: Runtime, work: Callable[[], T]) -> Camel[T]:
    """Do it on a database thread, and answer with what it returns."""
    return await Camel.of(runtime, work)
