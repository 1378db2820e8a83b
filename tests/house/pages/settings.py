"""docs/reference/settings.md: every setting, by room."""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from tests.house.pages.markdown import join, table
from thresher.config.apps import load_apps, own_apps
from thresher.config.settings import SETTINGS
from thresher.core.setting import Setting

INTRO = """\
Every number that steers Thresher, with its default. A project changes them in [`thresher.yaml`](project-file.md); you can
change them at run time ([how](../how-to/settings.md)). A value outside its range is refused. *Scope* is what a key needs to change
one over HTTP: `admin` for whatever touches security, money, politeness, memory, durability or how long things are kept."""

ROOMS = {
    "queue": "Order and size of tasks.",
    "lineage": "Children of tasks.",
    "retry": "Failures and crashes. [Which errors are tried again](errors.md).",
    "breaker": "Hosts that fail. A source has its own breaker, set where it is declared.",
    "host": "Limits of hosts that are met on the way (`host:NAME`). They hold for new hosts; `thresher sources limit` changes one.",
    "worker": "One worker process.",
    "reaper": "Tasks of lost workers.",
    "repair": "The safety net under the counters.",
    "prune": "Removing what is old.",
    "history": "How long things are kept.",
    "schedule": "Schedules.",
    "run": "`thresher run`.",
    "settings": "The settings themselves.",
}


def page() -> str:
    parts = [INTRO, "## Thresher"]
    for room, found in groupby(SETTINGS, key=lambda setting: setting.name.partition(".")[0]):
        parts += [f"### {room}", *([ROOMS[room]] if room in ROOMS else []), _drawn(found)]
    for app in load_apps(own_apps(), Path()):
        if app.settings:
            there = f"There while `{app.name}` is one of the project's apps."
            parts += [f"## The app {app.name}", there, _drawn(app.settings)]
    return join("Settings", *parts)


def _drawn(settings: Iterable[Setting]) -> str:
    return table(["setting", "default", "unit", "from", "to", "scope", "meaning"], map(_row, settings))


def _row(setting: Setting) -> list[str]:
    numbers = [_number(value) for value in (setting.default, setting.low, setting.high)]
    return [
        f"`{setting.name}`",
        numbers[0],
        setting.unit,
        *numbers[1:],
        "admin" if setting.admin else "write",
        setting.sentence,
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"
