"""Retries, heartbeats and rates are set where they belong: for everybody, or for one app."""

import asyncio
from pathlib import Path

import pytest

from tests.harness.databases import only_sqlite
from thresher import App, Done, NewTask, Pipeline, Retry, Source, Stage, Transient
from thresher.admin.settings import set_setting
from thresher.config.project import read_project
from thresher.config.settings import Settings
from thresher.core.errors import ConfigError, UsageError
from thresher.core.gate import interval_us
from thresher.engine.worker import Worker
from thresher.runtime import project_registry

APP = """
from thresher import *
async def do(ctx): return Done()
app = App("shop", pipelines=(Pipeline("do", Stage(do)),), retry=Retry(base=10, limit=1))
"""


async def fail(ctx):
    raise Transient("not today")


async def do(ctx):
    return Done()


@only_sqlite
@pytest.mark.promise(8)
def test_an_app_has_its_own_base_and_limit_of_retries(workshop):
    patient = App("patient", pipelines=(Pipeline("fail", Stage(fail)),), retry=Retry(base=0, limit=5))
    (task_id,) = workshop.drained(patient, NewTask("fail"), retry__base=3600, retry__max_retries=0)
    assert workshop.endings(task_id) == ["retry"] * 5 + ["failed"]
    ordinary = App("ordinary", pipelines=(Pipeline("fail", Stage(fail)),))
    (task_id,) = workshop.drained(ordinary, NewTask("fail"))
    assert workshop.endings(task_id) == ["failed"], "others keep to the settings"


@pytest.mark.promise(12)
def test_the_project_file_comes_before_the_app_and_the_app_before_the_settings(tmp_path: Path):
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "thresher.yaml").write_text("apps: [app.py]\nretry: {shop: {limit: 7}}\n")
    found = project_registry(read_project(tmp_path)).backoff("do", Settings({"retry.jitter": 0}))
    assert (found.base_us, found.max_retries, found.jitter) == (10_000_000, 7, 0)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("retry: [shop]", "must map names of apps to base"),
        ("retry: {shop: {bse: 3}}", "must map names of apps to base"),
        (
            "retry: {shop: {base: soon}}",
            "retry.shop is wrong: the base of retries must be 0 to 86,400 seconds, got 'soon'",
        ),
        ("retry: {shop: {limit: -1}}", "the limit of retries must be a whole number from 0 to 1,000, got -1"),
        (
            "retry: {shed: {limit: 1}}",
            "retry names shed, which is not an app of this project; its apps are: shop",
        ),
    ],
)
def test_retries_that_cannot_be_meant_are_refused_by_name(tmp_path: Path, said: str, problem: str):
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "thresher.yaml").write_text(f"apps: [app.py]\n{said}\n")
    with pytest.raises(ConfigError) as refused:
        project_registry(read_project(tmp_path))
    assert problem in str(refused.value)


@only_sqlite
@pytest.mark.promise(12)
def test_a_heartbeat_that_is_not_well_below_the_lease_is_refused(workshop):
    assert Settings({"worker.lease": 15}).heartbeat() == 5
    assert Settings({"worker.lease": 15, "worker.heartbeat": 2}).heartbeat() == 2
    with pytest.raises(
        ConfigError, match=r"Set worker\.heartbeat to at most 1\.5, or worker\.lease to at least 20"
    ):
        set_setting(workshop.store, "worker.heartbeat", "10", "anna")
    registry = workshop.set_up(App("test", pipelines=(Pipeline("do", Stage(do)),)), worker__heartbeat=2.5)
    with pytest.raises(ConfigError, match="a lease must outlast two heartbeats"):
        asyncio.run(Worker(workshop.store, registry).run())


def test_a_source_says_its_rate_by_the_minute():
    assert interval_us(Source("a", rate="30/m").rate) == interval_us(Source("b", rate=0.5).rate) == 2_000_000
    assert interval_us("120/hour") == 30_000_000
    assert interval_us(Source("c", rate="none").rate) == 0
    with pytest.raises(UsageError, match=r"a rate must be a number per second \(2\), 30/m"):
        Source("d", rate="quickly")
