"""docs/reference/python.md: the public names, their signatures, and what each is."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import thresher
from tests.house.pages.markdown import fence, join
from thresher.core import outcome

INTRO = """\
These names are all that an app needs. `from thresher import NAME`. [How to write an app](../how-to/write-an-app.md) shows them at
work. Those for other programs are shown in [use the queue from your program](../how-to/use-the-client.md)."""
GROUPS = {
    "What an app is made of": (
        "App",
        "Pipeline",
        "Stage",
        "Source",
        "Retry",
        "Schedule",
        "Event",
        "Setting",
        "tunable",
        "guarded",
        "host_gate",
    ),
    "What an app brings to people": (
        "Command",
        "Demo",
        "DemoRun",
        "Template",
        "ProjectQuestion",
        "ProjectDraft",
        "Route",
        "DashboardPage",
        "PageRequest",
        "Check",
        "Highlight",
        "Export",
        "Explanation",
    ),
    "What a stage is given": (
        "Context",
        "Task",
        "Page",
        "Credentials",
        "Rendering",
        "Click",
        "Wait",
        "Collect",
    ),
    "How a page becomes values": (
        "Schema",
        "Field",
        "Kind",
        "Material",
        "Extract",
        "By",
        "ModelAnswer",
        "Evidence",
        "Place",
    ),
    "What a stage returns": ("Outcome", "Done", "Next", "Filtered", "Skipped", "Snooze", "Failed", "Effect"),
    "What an outcome carries": (
        "NewTask",
        "Record",
        "Link",
        "NewEvent",
        "Group",
        "Run",
        "Stop",
        "Verdict",
        "GroupStatus",
    ),
    "For other programs": ("Client", "AsyncClient", "Added", "TaskStatus"),
    "What a stage raises": (
        "TaskError",
        "Transient",
        "RateLimited",
        "NotYet",
        "BudgetExhausted",
        "Blocked",
        "Unauthorized",
        "Permanent",
        "NotClickable",
    ),
    "What services and commands raise": (
        "UsageError",
        "UnknownName",
        "NotAllowed",
        "InvalidPayload",
        "InvalidUrl",
    ),
}
CLIENTS = ("Client", "AsyncClient")  # classes whose methods are called by who uses them
_MODULES = re.compile(r"\b(?:thresher\.(?:core|control)\.\w+|collections\.abc|contextlib|pathlib|typing)\.")


def page() -> str:
    parts = [INTRO]
    for title, names in GROUPS.items():
        parts.append(f"## {title}")
        parts += [_entry(name) for name in names]
    return join("The Python interface", *parts)


def _entry(name: str) -> str:
    found = getattr(thresher, name)
    if inspect.isfunction(found):
        return f"### {name}\n\n{fence('python fragment', f'{name}{_plain(str(inspect.signature(found)))}')}\n\n{inspect.getdoc(found)}"
    if not isinstance(found, type):
        return f"### {name}\n\n{fence('python fragment', f'{name} = {_plain(repr(found))}')}\n\n{_union()}"
    owner = "client" if name in CLIENTS else "context"
    lines = [_signature(name, found)] + [_method(owner, each) for each in _methods(found)]
    text = inspect.cleandoc(found.__doc__ or "")
    return f"### {name}\n\n{fence('python fragment', chr(10).join(lines))}\n\n{text}"


def _union() -> str:
    return (inspect.cleandoc(outcome.__doc__ or "")).split("\n\n")[1]


def _signature(name: str, found: type) -> str:
    if getattr(found, "_is_protocol", False):
        return f"class {name}"
    if issubclass(found, Exception) and found.__init__ is Exception.__init__:
        return f"{name}(message: str)"
    parameters = [each for each in inspect.signature(found).parameters.values() if each.name != "self"]
    words = [_parameter(each) for each in parameters]
    star = next((at for at, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY), None)
    if star is not None:
        words.insert(star, "*")
    line = f"{name}({', '.join(words)})"
    return line if len(line) <= 110 else f"{name}(\n    " + ",\n    ".join(words) + ",\n)"


def _parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    annotation = "" if parameter.annotation is parameter.empty else f": {_type(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return f"{star}{parameter.name}{annotation}"
    default = "{}" if "factory" in repr(parameter.default) else repr(parameter.default)
    return f"{star}{parameter.name}{annotation} = {default}"


def _methods(found: type) -> list[tuple[str, Any]]:
    if not getattr(found, "_is_protocol", False) and found.__name__ not in CLIENTS:
        return []
    public = ((name, each) for name, each in vars(found).items() if not name.startswith("_"))
    return [(name, each) for name, each in public if callable(each) or isinstance(each, property)]


def _method(owner: str, named: tuple[str, Any]) -> str:
    name, each = named
    act: Callable[..., Any] = each.fget if isinstance(each, property) else each
    signature = inspect.signature(act)
    words = ", ".join(
        _parameter(parameter) for parameter in signature.parameters.values() if parameter.name != "self"
    )
    call = f"{owner}.{name}" if isinstance(each, property) else f"{owner}.{name}({words})"
    awaited = "await " if inspect.iscoroutinefunction(act) else ""
    says = inspect.cleandoc(act.__doc__ or "")
    return f"    {awaited}{call} -> {_type(signature.return_annotation)}  # {says}"


def _type(annotation: Any) -> str:
    text = _plain(
        annotation.__name__
        if isinstance(annotation, type) and not hasattr(annotation, "__args__")
        else repr(annotation)
    )
    return text.replace(_plain(repr(thresher.Outcome)), "Outcome")


def _plain(text: str) -> str:
    text = _MODULES.sub("", re.sub(r"<class '(?:[\w.]+\.)?(\w+)'>", r"\1", text))
    text = re.sub(r": '([^']*)'", r": \1", text)  # annotations that are not evaluated
    text = re.sub(r"Named\[(.*)\](?= =|,|$)", r"\1 | str", text, flags=re.MULTILINE)
    return re.sub(r"Optional\[(\w+)\]", r"\1 | None", text)
