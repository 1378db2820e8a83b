"""What work costs a database, counted and not timed: the plans of its statements, its instructions, the rows
that it reads."""

import re

from thresher.store.sqlite.connection import SqliteSession

_TOUCHED = """select relname, coalesce(seq_scan, 0), coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables
    where schemaname = current_schema() and relname = any(%s)"""


def plans(store, monkeypatch, work):
    """Every statement of some work, with the values of its first use, and how SQLite would answer it."""
    seen = {}
    for name in ("rows", "run", "many"):
        method = getattr(SqliteSession, name)

        def noting(self, sql, params=(), method=method, name=name):
            seen.setdefault(sql, params[0] if name == "many" and params else params)
            return method(self, sql, params)

        monkeypatch.setattr(SqliteSession, name, noting)
    work()
    monkeypatch.undo()
    with store.read() as session:
        return {
            sql: [row[3] for row in session.rows(f"explain query plan {sql}", params)]
            for sql, params in seen.items()
        }


def scans(found, but=()):
    """Those plans that read a table from end to end, other than a table of these names."""
    small = "".join(rf"(?!{name}$)" for name in but)
    return {
        sql: plan
        for sql, plan in found.items()
        for line in plan
        if re.match(rf"SCAN (?!.*USING)(?!\d+-ROW VALUES){small}", line)
    }


def used(found):
    """All that these plans say, as one text: the names of the indexes stand in it."""
    return " ".join(line for plan in found.values() for line in plan)


def instructions(store, work, step=100):
    """How many instructions SQLite's machine takes for some work, to the nearest step."""
    counted = [0]

    def count():
        counted[0] += 1
        return False  # do not interrupt

    connection = store.backend._file._writer
    connection.set_progress_handler(count, step)
    work()
    connection.set_progress_handler(None, 0)
    return counted[0] * step


def touched(hand, tables):
    """(sequential scans, rows read) of this connection so far, by table. The server empties these counts now
    and then."""
    found = {
        name: (scanned, read) for name, scanned, read in hand._connection.execute(_TOUCHED, (list(tables),))
    }
    hand.commit()
    return found


def keep_still(store, *tables):
    """Autovacuum would look at these tables of PostgreSQL at a time of its own choosing, in the middle of a
    test's writing too, and every look makes new plans."""
    with store.write() as session:
        for table in tables:
            session.run(f"alter table {table} set (autovacuum_enabled = false)")


def rows_read(hand, tables, steps, but=()):
    """The most rows that one of these steps read, by table; it may read none from end to end, other than
    these."""
    before, most = touched(hand, tables), {}
    for _ in steps:
        after = touched(hand, tables)
        for table, (scanned, read) in after.items():
            scanned_before, read_before = before.get(table, (0, 0))
            if read < read_before:
                scanned_before = read_before = 0
            assert scanned == scanned_before or table in but, (
                f"{table} was read from end to end ({read - read_before} rows)"
            )
            most[table] = max(read - read_before, most.get(table, 0))
        before = after
    return most
