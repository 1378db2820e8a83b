"""The dashboard and the alerts in deploy/ ask for metrics, labels and values that /metrics really tells; and
Grafana can lay the panels out.
"""

import json
import re
import shlex
from collections import defaultdict
from itertools import combinations

import pytest
import yaml

from tests.house import dashboard
from tests.house.paper import ROOT
from tests.house.test_paper import parse
from tests.web.conftest import Api
from thresher.admin.keys import create_key

RULES = ROOT / "deploy" / "prometheus" / "rules.yaml"
DOCS = ROOT / "docs" / "how-to" / "monitor.md"
# What PromQL itself says, as far as these files use it.
WORDS = {"absent", "and", "by", "histogram_quantile", "max", "rate", "sum"}
# What Prometheus adds to every sample.
ADDED = {"job", "instance"}
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"[^"\\]*")|(?P<range>\[(?:\$__rate_interval|\d+[smhd])\])|(?P<number>\d+(?:\.\d+)?)
    |(?P<name>[a-zA-Z_:][\w:]*)|(?P<matchers>\{[^{}]*\})|(?P<sign>==|!=|>=|<=|[-+*/><(),]))""",
    re.VERBOSE,
)
_MATCHER = re.compile(r'\s*([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"\\]*)"\s*')


def tokens(query: str) -> list[tuple[str, str]]:
    """A query in its parts. Whatever is none is a mistake."""
    found, at = [], 0
    query = query.strip()
    while at < len(query):
        match = _TOKEN.match(query, at)
        assert match, f"not read from here on: {query[at:]!r}"
        found.append((str(match.lastgroup), match[0].strip()))
        at = match.end()
    return found


def samples(text: str) -> dict[str, dict[str, set[str]]]:
    """The names of all samples, with the values of their labels."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, labels = line.rpartition(" ")[0].partition("{")
            found[name]
            for label, _, value in _MATCHER.findall(labels.rstrip("}").replace(",", " ")):
                found[name][label].add(value)
    return found


def check(query: str, known: dict[str, dict[str, set[str]]]) -> set[str]:
    """The metrics of a query, each known, with known labels and values."""
    asked, parts = set(), tokens(query)
    for (kind, text), (after, rest) in zip(parts, [*parts[1:], ("end", "")], strict=True):
        if kind == "name" and text not in WORDS and not any(text in each for each in known.values()):
            if text in ADDED:
                continue
            assert text in known, f"{text} is no metric: {query}"
            asked.add(text)
            for label, how, value in (
                _MATCHER.findall(rest[1:-1].replace(",", " ")) if after == "matchers" else ()
            ):
                if label in ADDED:
                    continue
                assert label in known[text], f"{text} has no label {label}: {query}"
                assert how in ("=", "!=")
                assert value in known[text][label], f"{label} of {text} is never {value}: {query}"
    depth = [0]
    for _, text in parts:
        depth.append(depth[-1] + text.count("(") - text.count(")"))
    assert min(depth) == depth[-1] == 0, query
    return asked


@pytest.fixture(scope="module")
def known(standing) -> dict[str, dict[str, set[str]]]:
    token = create_key(standing.shop.store, "monitor", ["read"]).token
    return samples(Api(standing.stranger.url, token).ask("GET", "/metrics").body.decode())


def queries() -> list[str]:
    panels = dashboard.dashboard()["panels"]
    rules = yaml.safe_load(RULES.read_text("utf-8"))["groups"][0]["rules"]
    return [each["expr"] for panel in panels for each in panel.get("targets", ())] + [
        each["expr"] for each in rules
    ]


@pytest.mark.parametrize("query", queries())
def test_a_query_asks_for_what_is_told(query, known):
    assert check(query.replace('job=~"$job"', 'job="x"'), known)


@pytest.mark.parametrize(
    "query",
    [
        "max(thresher_task)",
        'max(thresher_tasks{status="due"})',
        'max(thresher_tasks{state="ready"})',
        "avg(thresher_tasks)",
        "max(thresher_workers_alive",
        "max(thresher_workers_alive) ; 1",
    ],
)
def test_a_mistake_would_be_seen(query, known):
    with pytest.raises(AssertionError):
        check(query, known)


def test_every_metric_stands_on_the_dashboard_and_in_the_docs(known):
    shown = set().union(*(check(each.replace('job=~"$job"', 'job="x"'), known) for each in queries()))
    metrics = {re.sub(r"_(bucket|sum|count)$", "", name) for name in known}
    assert metrics - {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown} == set()
    text = DOCS.read_text("utf-8")
    assert [name for name in sorted(metrics) if name not in text] == []


def test_the_dashboard_is_the_one_that_is_described():
    assert dashboard.FILE.read_text("utf-8") == dashboard.text(), "run: python -m tests.house.dashboard"


def test_panels_have_numbers_of_their_own_and_room():
    whole = json.loads(dashboard.FILE.read_text("utf-8"))
    panels = whole["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 15
    assert len({panel["title"] for panel in panels if panel["type"] != "row"}) >= len(panels) - 6
    for panel in panels:
        place = panel["gridPos"]
        assert 0 <= place["x"] < place["x"] + place["w"] <= 24
        assert place["h"] > 0
        if panel["type"] != "row":
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            assert [each["refId"] for each in panel["targets"]] == ["A", "B"][: len(panel["targets"])]
    for one, other in combinations([panel["gridPos"] for panel in panels], 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)
    assert [each["name"] for each in whole["templating"]["list"]] == ["datasource", "job"]


def test_an_alert_says_what_is_wrong_what_to_do_and_is_in_the_docs():
    text = DOCS.read_text("utf-8")
    for rule in yaml.safe_load(RULES.read_text("utf-8"))["groups"][0]["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert set(rule["annotations"]) == {"summary", "description"}
        assert f"`{rule['alert']}`" in text, rule["alert"]
        for words in re.findall(r"`thresher ([^`]+)`", rule["annotations"]["description"]):
            parse(shlex.split(words))
