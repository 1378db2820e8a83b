"""Lists longer than a statement takes values, and texts longer than an index takes: neither may stop a
queue."""

import pytest

from tests.harness.databases import only_postgres
from tests.harness.tasks import claim_one, entry, put, rows
from thresher.core.settlement import Settlement
from thresher.store.session import MAX_LISTED
from thresher.store.spawn import known_lineage

MANY = 300_000  # more than either database takes

# Every text that stands in an index, and what keeps it short enough for one. An index that is added is added
# here, with its limit.
FIXED, NAMED, KEYED = (
    "a digest or a number of our own",
    "a name that code, settings or control limit",
    "core/limits.py or MAX_KEY",
)
BOUNDED = {
    FIXED: """answers.question api_keys.prefix blobs.hash blob_owners.hash late_posts.digest logins.digest loose_blobs.hash pages.hash
        pages.key scrape_posts.digest scrape_sessions.session_id spendings.question examples.schema_digest examples.page spendings.day
        reuses.day roles.status idempotency_keys.key idempotency_keys.caller""",
    NAMED: """admins.name audit.who app_kinds.kind app_migrations.app answers.prompt api_keys.name blob_owners.kind budgets.scope examples.site examples.schema_name extractors.site
        extractors.schema_name login_tries.what pages.host platforms.name reuses.app reuses.model reuses.prompt role_names.key
        role_turns.platform
        schedules.name scopes.kind scopes.stage settings.name spendings.app task_groups.name group_counts.name chore_rounds.name
        tasks.error_name webhooks.name vectors.model vectors.version vectors.kind""",
    KEYED: """gates.name lanes.key links.name links.target marks.kind marks.name marks.word records.kind records.key sources.name tasks.kind
        tasks.lineage_key tasks.dedupe_key task_groups.open_key vectors.key""",
}
_INDEXED = """select distinct t.relname || '.' || a.attname from pg_index i join pg_class t on t.oid = i.indrelid
    join pg_attribute a on a.attrelid = t.oid and a.attnum = any (i.indkey)
    where t.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and a.atttypid = cast('text' as regtype)"""


@pytest.mark.promise(1)
@pytest.mark.parametrize("number", [0, 1, MAX_LISTED, MAX_LISTED + 1, MANY])
def test_a_list_may_have_any_number_of_items(store, number):
    put(store, *(entry(key=f"{n}") for n in range(3)))
    keys, ids = [str(n) for n in range(number)], list(range(1, number + 1))
    with store.read() as session:
        found = session.rows(
            "select dedupe_key from tasks where dedupe_key in (:keys*) and id in (:ids*)",
            {"keys": keys, "ids": ids},
        )
        rest = session.rows(
            "select dedupe_key from tasks where dedupe_key not in (:keys*)", {"keys": keys or [""]}
        )
    assert sorted(found) == [(key,) for key in "012"[:number]]
    assert sorted(rest) == [(key,) for key in "012"[number:]]


@pytest.mark.promise(6)
def test_a_lineage_is_asked_for_more_keys_than_a_statement_takes_values(store):
    put(store, entry("root"))
    root = claim_one(store)
    store.settle([Settlement.done(root, children=(entry(key="7"), entry("other", key="8")))])
    with store.read() as session:
        known = known_lineage(session, root.id, (entry(key=str(n)) for n in range(70_000)))
    assert (known.has_live("page", "7"), known.has_live("page", "8"), known.has_live("other", "8")) == (
        True,
        False,
        False,
    )


@only_postgres
def test_every_text_in_an_index_has_a_limit(store):
    limited = {name for names in BOUNDED.values() for name in names.split()}
    found = {name for (name,) in rows(store, _INDEXED)}
    assert found - limited == set(), (
        "an index of texts that nobody keeps short: limit them (core/limits.py), and say so above"
    )
    assert limited - found == set(), "in no index any more"
