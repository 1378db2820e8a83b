import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.tasks import entry
from thresher.core.lineage import CHECKS, RefusalRule, refusal
from thresher.core.task import Parent, TaskInsert, ancestry_mark
from thresher.store.spawn import KnownLineage


def parent(depth=0, *ancestry):
    return Parent(7, 1, depth, ancestry)


def refused(below, child, *known, max_depth=10):
    found = refusal(below, child, KnownLineage(known), max_depth)
    return found and found.rule


@pytest.mark.promise(6)
@pytest.mark.parametrize(
    ("depth", "rule"), [(0, None), (9, None), (10, RefusalRule.TOO_DEEP), (11, RefusalRule.TOO_DEEP)]
)
def test_depth_is_bounded(depth, rule):
    assert refused(parent(depth), entry(key="a")) is rule


@pytest.mark.promise(6)
def test_a_child_cannot_be_its_own_ancestor():
    assert refused(parent(1, "page:a", "page:b"), entry("page", key="a")) is RefusalRule.IN_ANCESTRY
    assert refused(parent(1, "page:a"), entry("item", key="a")) is None


@pytest.mark.promise(6)
@pytest.mark.parametrize(
    ("live", "rule"), [(True, RefusalRule.LIVE_IN_LINEAGE), (False, RefusalRule.ENDED_IN_LINEAGE)]
)
def test_a_child_cannot_be_its_own_cousin(live, rule):
    assert refused(parent(), entry("page", key="a"), ("page", "a", live)) is rule
    assert refused(parent(), entry("page", key="b"), ("page", "a", live)) is None


@pytest.mark.promise(6)
def test_the_checks_are_made_in_their_order():
    child, everything = entry("page", key="a"), (("page", "a", True), ("page", "a", False))
    assert len(CHECKS) == 4
    assert refused(parent(10, "page:a"), child, *everything) is RefusalRule.TOO_DEEP
    assert refused(parent(9, "page:a"), child, *everything) is RefusalRule.IN_ANCESTRY
    assert refused(parent(9), child, *everything) is RefusalRule.LIVE_IN_LINEAGE
    assert refused(parent(9), child, everything[1]) is RefusalRule.ENDED_IN_LINEAGE


def test_a_child_without_a_key_is_stopped_by_depth_alone():
    assert refused(parent(9, "page:a"), entry(), ("page", "a", True)) is None
    assert refused(parent(10), entry()) is RefusalRule.TOO_DEEP


def test_the_page_counts_before_the_key():
    assert entry(url="http://acme.example/", key="k").lineage_key == entry(url="http://acme.example/").url_key
    assert entry(key="k").lineage_key == "k"


@pytest.mark.promise(6)
@given(st.lists(st.sampled_from("abcdef"), max_size=30))
def test_no_chain_of_children_visits_a_page_twice_or_goes_too_deep(keys):
    below, path = Parent(1, 1, 0, ()), []
    for key in keys:
        child = entry("page", key=key)
        if refused(below, child) is None:
            path.append(key)
            born = TaskInsert(child, 1, below)
            below = Parent(below.task_id + 1, 1, below.depth + 1, tuple(orjson.loads(born.ancestry)))
    assert len(path) == len(set(path)) <= 10
    assert below.ancestry == tuple(ancestry_mark("page", key) for key in path)
