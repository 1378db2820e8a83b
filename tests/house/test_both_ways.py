"""What a page can do, a command can do: both call the same functions, so that both leave the same row in the
audit log."""

import inspect
from collections.abc import Iterable, Iterator
from dis import get_instructions
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tests.house.test_apps import apps
from thresher.cli.commands import OURS
from thresher.core.named import loaded
from thresher.web.pages import PAGES
from thresher.web.pages.page import DashboardPage, app_pages

# What a command does by another function of the same module, and why it is another.
OTHERWISE = {
    "admins:create_with": "admins:create_admin",  # a page asks for the password twice
    "admins:first_admin": "admins:create_admin",  # with the token of the setup in place of a login
    "admins:put_password": "admins:change_password",  # as above
    "admins:replace_password": "admins:change_password",  # one's own, by the old one
    "failures:retry_newest_failures": "failures:retry_failures",  # so many at once as a request may take
    "keys:revoke_key_id": "keys:revoke_key",  # by its id alone
    "keys:switch_key_id": "keys:switch_key",
    "sources:test_here": "sources:test",  # in the loop of the server
}
# What is of the browser alone.
OF_THE_BROWSER = "thresher.admin.logins:"
WRITES = {"write", "enqueue"}  # methods of a store
WRITERS = {"admin", "apps", "store"}  # packages that have one


def pages() -> list[DashboardPage]:
    """Every page that changes something."""
    found = (*PAGES, *app_pages(apps(), PAGES))
    return [page for page in found if page.method == "POST"]


def commands() -> Iterator[Any]:
    """What every command leads to."""
    for row in (*OURS.values(), *(each for app in apps() for each in app.commands)):
        yield loaded(row.target)


def codes(code: CodeType) -> Iterator[CodeType]:
    """A piece of code and those that stand in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


@cache
def globals_of(code: CodeType) -> frozenset[str]:
    """The global names that a piece of code reads; a method that is called the same is none."""
    return frozenset(each.argval for each in get_instructions(code) if each.opname == "LOAD_GLOBAL")


def _functions(value: Any, words: tuple[str, ...]) -> Iterator[FunctionType]:
    if isinstance(value, FunctionType):
        yield value
    elif isinstance(value, ModuleType) and value.__name__.startswith("thresher."):
        yield from (each for word in words if isinstance(each := getattr(value, word, None), FunctionType))
    elif isinstance(value, dict):
        for each in value.values():
            yield from _functions(each, words)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _functions(each, words)


@cache
def mentioned(function: FunctionType) -> tuple[FunctionType, ...]:
    """The functions of ours that a function mentions."""
    plain = inspect.unwrap(function)
    found = (
        each
        for code in codes(plain.__code__)
        for word in globals_of(code)
        for each in _functions(plain.__globals__.get(word), code.co_names)
    )
    return tuple(each for each in found if each.__module__.startswith("thresher."))


def is_shell(function: FunctionType) -> bool:
    """Whether a function belongs to a page or a command, and not to what they share."""
    parts = function.__module__.split(".")
    return parts[1] in ("web", "cli") or (parts[1] == "apps" and parts[3] in ("pages", "cli", "http"))


def shared(functions: Iterable[FunctionType]) -> set[FunctionType]:
    """What pages or commands call of what they share, through functions of their own."""
    todo, seen, found = list(functions), set[FunctionType](), set[FunctionType]()
    while todo:
        each = todo.pop()
        if each in seen:
            continue
        seen.add(each)
        if is_shell(each):
            todo += mentioned(each)
        else:
            found.add(each)
    return found


def changes(function: FunctionType) -> bool:
    """Whether a function writes, itself or through others."""
    todo, seen = [function], set[FunctionType]()
    while todo:
        each = todo.pop()
        if each not in seen and each.__module__.split(".")[1] in WRITERS:
            seen.add(each)
            if any(WRITES & {*code.co_names} for code in codes(inspect.unwrap(each).__code__)):
                return True
            todo += mentioned(each)
    return False


def name(function: FunctionType) -> str:
    return f"{function.__module__}:{function.__name__}"


def of_commands() -> set[str]:
    """The names of what commands call of what they share with pages."""
    found = {each for target in commands() for each in _behind(target)}
    return {name(each) for each in shared(found)}


def _behind(target: Any) -> Iterator[FunctionType]:
    if isinstance(target, FunctionType):
        yield target
        return
    yield from (row.callback for row in target.registered_commands if row.callback)
    for below in target.registered_groups:
        yield from _behind(below.typer_instance)


def of_pages() -> dict[str, str]:
    """What pages change, by name, with one page that does."""
    return {name(each): page.path for page in pages() for each in shared([page.endpoint]) if changes(each)}


def test_what_a_page_changes_a_command_changes_by_the_same_function():
    have, wanted = of_commands(), of_pages()
    assert len(wanted) > 60
    missing = {}
    for each, path in wanted.items():
        package, _, short = each.partition("admin.")
        twin = f"{package}admin.{OTHERWISE.get(short)}"
        if each not in have and twin not in have and not each.startswith(OF_THE_BROWSER):
            missing[each] = path
    assert missing == {}, "give it a command, or say in OTHERWISE which one does the same"


def test_no_exception_is_left_over():
    have, wanted = of_commands(), of_pages()
    for page, command in OTHERWISE.items():
        assert f"thresher.admin.{page}" in wanted.keys() - have
        assert f"thresher.admin.{command}" in have
