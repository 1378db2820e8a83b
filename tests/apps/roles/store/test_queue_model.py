"""The model check: random walks over everything that can happen to roles, with every rule of the queue
checked after every step."""

import contextlib

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from tests.apps.roles.store.queueing import (
    DEMAND,
    LEASE,
    PACE,
    end,
    expire,
    person,
    platform,
    problems,
    reset,
    role,
    want,
)
from tests.harness.databases import memory_database, postgres_database
from tests.harness.schemas import SCHEMAS
from tests.harness.tasks import rows
from thresher.apps.roles.demand import PRIORITIES
from thresher.apps.roles.store.platforms import pause_platform, remove_platform, resume_platform
from thresher.apps.roles.store.queue import Claimed, Holder, claim_role
from thresher.apps.roles.store.roles import (
    approve_role,
    merge_roles,
    reject_role,
    set_priority,
    split_role,
    unlink_candidate,
)
from thresher.apps.roles.store.scrapes import extend_scrape, is_held, judge_turns
from thresher.apps.roles.turns import Verdict
from thresher.core.clock import DAY, HOUR, MINUTE, FrozenClock
from thresher.core.errors import NotAllowed, UnknownName

PROMISES = [pytest.mark.promise(number) for number in (1, 2, 7, 9)]
NAMES, PLATFORMS = ("a", "b", "c", "d"), ("dice", "indeed")
names, people, places = st.sampled_from(NAMES), st.integers(0, 4), st.sampled_from(PLATFORMS)
verdicts = st.sampled_from(Verdict)
by_place = st.dictionaries(places, verdicts, max_size=2)
REFUSED = (UnknownName, NotAllowed)


class Walk(RuleBasedStateMachine):
    """Anything may happen in any order; whatever cannot be is refused and changes nothing."""

    scrapes = Bundle("scrapes")

    def __init__(self):
        super().__init__()
        self.clock = FrozenClock()
        self.database = self.connect()
        self.store = self.database.open()
        self.fences = {}  # the highest of each role so far

    def connect(self):
        return memory_database(self.clock)

    def teardown(self):
        self.database.close()

    def does(self, fn, *args, **kwargs):
        with self.store.write() as session:
            return fn(session, *args, **kwargs)

    def role(self, name):
        found = rows(self.store, "select role_id from role_names where key = :key", key=name)
        return found[0][0] if found else 10**6

    def wanted(self, *ids):
        names = [str(each) for each in ids]
        return {
            row[0]
            for row in rows(
                self.store,
                "select record_id from links where name = 'wants' and target in (:names*)",
                names=names,
            )
        }

    @initialize(proposed=st.booleans(), some=st.sets(places))
    def begin(self, proposed, some):
        for at, name in enumerate(NAMES):
            role(self.store, name, at, approved=not (proposed and name == "d"))
        for name in sorted(some):
            platform(self.store, name)

    @rule(
        target=scrapes,
        asked=st.none() | places.map(lambda name: [name]),
        may=st.none() | st.just(PLATFORMS[:1]),
    )
    def claim(self, asked, may):
        claimed = claim_role(self.store, Holder(1, "x", may), asked, LEASE)
        if not isinstance(claimed, Claimed):
            return multiple()
        assert claimed.scrape.claim > self.fences.get(claimed.role.id, 0)
        self.fences[claimed.role.id] = claimed.scrape.claim
        return claimed.scrape

    @rule(scrape=scrapes, verdict=verdicts, each=by_place)
    def end(self, scrape, verdict, each):
        self.finish(scrape, verdict, each)

    @rule(verdict=verdicts, each=by_place)
    def claim_and_end(self, verdict, each):
        claimed = claim_role(self.store, Holder(2, "y"), None, LEASE)
        if isinstance(claimed, Claimed):
            self.fences[claimed.role.id] = claimed.scrape.claim
            self.finish(claimed.scrape, verdict, each)

    def finish(self, scrape, verdict, each):
        """Only a find or a proof completes a role, and only its own session does."""
        held = self.does(is_held, scrape, self.clock.now(), "")
        before = rows(
            self.store, "select platform, state from role_turns where role_id = :id", id=scrape.role_id
        )
        was = rows(self.store, "select status, claim from roles where id = :id", id=scrape.role_id)
        after = end(self.store, scrape, verdict, each)
        if held and after == "completed":
            assert all(state == "done" or each.get(name, verdict).is_final for name, state in before)
        if was and was[0][1] != scrape.claim:
            assert after == was[0][0]

    @rule(scrape=scrapes, each=by_place)
    def go_on(self, scrape, each):
        if each:
            self.does(judge_turns, scrape, each, self.clock.now(), PACE)
        else:
            self.does(extend_scrape, scrape, LEASE, self.clock.now())

    @rule(us=st.sampled_from([MINUTE, LEASE, DAY]), then=st.sampled_from(["nothing", "expire", "reset"]))
    def wait(self, us, then):
        self.clock.advance(us)
        if then == "expire":
            expire(self.store)
        elif then == "reset":
            reset(self.store, self.clock.now() - HOUR)

    @rule(name=names, who=people, leaves=st.none() | st.lists(names, max_size=2))
    def link(self, name, who, leaves):
        someone = person(self.store, f"person {who}")
        with contextlib.suppress(UnknownName):
            want(self.store, self.role(name), someone)
        if leaves:
            self.does(
                unlink_candidate, someone, [self.role(each) for each in leaves], self.clock.now(), DEMAND
            )

    @rule(one=names, other=names, split=st.booleans())
    def merge_or_split(self, one, other, split):
        one, two = self.role(one), self.role(other)
        before = self.wanted(one, two)
        with contextlib.suppress(*REFUSED):
            if split:
                some = sorted(self.wanted(one))[::2]
                self.does(split_role, one, "x", "x", candidate_ids=some, now=self.clock.now(), demand=DEMAND)
                assert self.wanted(one, two, self.role("x")) >= before
            elif one != two:
                self.does(merge_roles, one, two, self.clock.now(), DEMAND)
                assert self.wanted(two) == before

    @rule(name=names, change=st.sampled_from([approve_role, reject_role, *PRIORITIES]))
    def curate(self, name, change):
        with contextlib.suppress(UnknownName):
            if isinstance(change, str):
                self.does(set_priority, self.role(name), change, self.clock.now(), DEMAND)
            else:
                self.does(change, self.role(name), self.clock.now(), DEMAND)

    @rule(
        name=places,
        what=st.sampled_from(["add", "remove", "pause", "resume"]),
        every=st.sampled_from([0, HOUR]),
        most=st.sampled_from([None, 1]),
    )
    def change_platforms(self, name, what, every, most):
        match what:
            case "add":
                platform(self.store, name, every_us=every, in_flight=most)
            case "remove":
                self.does(remove_platform, name, self.clock.now())
            case "pause":
                self.does(pause_platform, name, self.clock.now() + HOUR)
            case _:
                self.does(resume_platform, name)

    @invariant()
    def every_rule_holds(self):
        assert problems(self.store) == []


class TestOnSqlite(Walk.TestCase):
    settings = settings(stateful_step_count=25)
    pytestmark = PROMISES


@pytest.mark.promise(19)
def test_no_walk_breaks_a_rule_on_postgres(postgres_url):
    class OnPostgres(Walk):
        def connect(self):
            return postgres_database(postgres_url, self.clock)

        def teardown(self):
            super().teardown()
            SCHEMAS.give_back(self.database.url)

    run_state_machine_as_test(OnPostgres, settings=settings(max_examples=4, stateful_step_count=30))
