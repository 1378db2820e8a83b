"""Catalogue vendors: products that thousands of sites run on, told by marks in their pages.

They are data (`vendors.yaml`). A mark is only a hint. The vendor counts once every parameter was found and
its API has answered.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from thresher.reading.structured.yaml_file import read_yaml

MAX_TEXT = 2_000_000  # characters of a page that are searched


@dataclass(frozen=True, slots=True)
class Vendor:
    """`entities` are the kinds of things its API has; empty for any."""

    name: str
    title: str
    marks: tuple[str, ...]
    parameters: Mapping[str, str]
    probe: str
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VendorSeen:
    """A vendor whose marks stand in a page, with the parameters that were found there."""

    NOT_STORED: ClassVar = (None,)

    name: str = ""
    title: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    probe: str = ""


@cache
def vendors() -> tuple[Vendor, ...]:
    """The vendors that are known."""
    text = (files("thresher.apps.extractions.detection") / "vendors.yaml").read_text("utf-8")
    return tuple(_vendor(each) for each in read_yaml(text))


def _vendor(said: Mapping[str, Any]) -> Vendor:
    return Vendor(
        said["name"],
        said["title"],
        tuple(said["marks"]),
        dict(said["parameters"]),
        said["probe"],
        tuple(said.get("entities", ())),
    )


def vendor_of(html: str, url: str, entity: str) -> VendorSeen | None:
    """The vendor that a page runs on, if all that its API needs stands in the page."""
    text = f"{url}\n{html[:MAX_TEXT]}"
    for vendor in vendors():
        if (not vendor.entities or entity in vendor.entities) and any(mark in text for mark in vendor.marks):
            found = {name: re.search(pattern, text) for name, pattern in vendor.parameters.items()}
            if all(found.values()):
                known = {name: match[1] for name, match in found.items() if match is not None}
                return VendorSeen(vendor.name, vendor.title, known, _filled(vendor.probe, known))
    return None


def _filled(template: str, parameters: Mapping[str, str]) -> str:
    """The parameters fit their patterns, which allow no character that means something in an address."""
    for name, value in parameters.items():
        template = template.replace(f"{{{name}}}", value)
    return template
