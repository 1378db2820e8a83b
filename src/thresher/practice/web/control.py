"""The control interface: knobs, the clock and the log over HTTP, under a host name that can belong to nobody.

    GET  /knobs              the knobs that are turned
    POST /knobs              turn one, or a list of them
    GET  /clock              what day it is
    POST /clock              {"day": 12} or {"at": "2026-03-14T09:00:00+00:00"} or {"days": 1} to move on
    GET  /log?host=&since=   every request, or those of one host, after a number
    POST /reset              no knobs, no log, the first day

Requests to it are not logged.
"""

import json
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

from thresher.practice.web.knob import knob_from
from thresher.practice.web.web import Web

CONTROL = "control.practice.invalid"


def command(site: Web, method: str, target: str, body: bytes) -> web.Response:
    """Obey one command. What cannot be obeyed is refused with a sentence."""
    try:
        said = json.loads(body) if body else {}
        found = _obeyed(site, method, target, said)
    except (ValueError, TypeError) as error:
        return web.json_response({"error": str(error)}, status=400)
    if found is None:
        return web.json_response(
            {"error": f"there is no {method} {target}; see /knobs, /clock, /log, /reset"}, status=404
        )
    return web.json_response(found)


def _obeyed(site: Web, method: str, target: str, said: Any) -> dict[str, Any] | None:
    path, _, query = target.partition("?")
    match (method, path):
        case ("POST", "/knobs"):
            knobs = [knob_from(each) for each in (said if isinstance(said, list) else [said])]
            with site.lock:
                site.panel.turn(*knobs)
        case ("POST", "/clock"):
            _set_clock(site, said)
        case ("POST", "/reset"):
            site.reset()
        case ("GET", "/log"):
            asked = parse_qs(query)
            since = int(asked.get("since", ["0"])[0])
            return {"log": [each.as_json() for each in site.log.entries(asked.get("host", [None])[0], since)]}
        case ("GET", "/knobs" | "/clock" | "/"):
            pass
        case _:
            return None
    return status(site)


def status(site: Web) -> dict[str, Any]:
    """Where the web stands."""
    with site.lock:
        return {
            "seed": site.seed,
            "day": site.calendar.day,
            "now": site.calendar.now.isoformat(),
            "knobs": [each.as_json() for each in site.panel.knobs],
        }


def _set_clock(site: Web, said: Any) -> None:
    match said:
        case {"day": int() | float() as day}:
            site.set_day(day)
        case {"days": int() | float() as days}:
            site.set_day(site.calendar.day + days)
        case {"at": str() as text}:
            site.set_time(datetime.fromisoformat(text))
        case _:
            raise ValueError('say {"day": 12}, {"days": 1} or {"at": "2026-03-14T09:00:00+00:00"}')
