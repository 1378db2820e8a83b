"""What `thresher init` writes for somebody who turns a site into data: a recipe."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from thresher import ProjectDraft, ProjectQuestion, Template, UsageError
from thresher.core.template import written

SECTION = """\
# Which site is read into which entity. How it is walked is found out by the first run, and `thresher recipes show {name}` shows it.
# `thresher recipes entities` lists the entities and their fields.
extractions:
  recipes:
    {name}:
      url: {url}
      entity: {entity}
      limits: {{pages: 500, rate: {rate}}}    # requests of one extraction, and how many a second
"""
COMMENTED = """\
# Which site is read into which entity. Take the "#" away, and change the address.
# extractions:
#   recipes:
#     courses:
#       url: https://catalog.acme.example/courses
#       entity: course
#       limits: {pages: 500, rate: 1}
"""


def _check_url(url: str) -> None:
    found = urlsplit(url)
    if found.scheme not in ("http", "https") or "." not in (found.hostname or ""):
        raise UsageError(f"{url[:80]!r} is no address of a site; write https://... up to its list of items")


def _check_entity(entity: str) -> None:
    if not re.fullmatch(r"[a-z][a-z_]{0,60}", entity):
        raise UsageError(f"{entity[:80]!r} is no entity; write one such as course, product or article")


def write(said: Mapping[str, str], practice: bool) -> ProjectDraft:
    """The recipe in the project file. Nothing is asked of the site before a worker runs."""
    entity, url = said["entity"], said["url"]
    name = f"{entity.replace('_', '-')}s"
    if not url:
        return ProjectDraft(
            section=COMMENTED,
            steps=[
                ("doctor", "check the installation"),
                ("recipes list", "see your recipes, once there is one"),
            ],
        )
    section = SECTION.format(name=name, url=written(url), entity=entity, rate=20 if practice else 1)
    return ProjectDraft(
        section=section,
        steps=[
            ("run", "find out how the site is walked"),
            (f"extract run {name}", "begin an extraction"),
            ("run", "read the site"),
            (f"datasets show {name}", f"see the items; thresher datasets export {name} writes a file"),
            ("up", "see it in the browser"),
        ],
    )


TEMPLATE = Template(
    "Turn a site into data",
    (
        ProjectQuestion(
            "url",
            "Address of the site's list of items (none: write it down later)",
            "",
            "https://n24.numbered.catalogues.example/courses",
            _check_url,
        ),
        ProjectQuestion(
            "entity",
            "What its items are: course, product, article, job_posting, ...",
            "product",
            "course",
            _check_entity,
        ),
    ),
    write,
)
