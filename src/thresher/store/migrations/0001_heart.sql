-- The heart: gates, lanes, tasks, and what becomes of them.
-- {identity}, {states}, {live} and {waiting} are filled in by migrations.py; the states come from the transition table.
-- Times are integer microseconds since 1970. Truth values are 0 and 1. JSON is text, so that both databases keep the same bytes.

create table gates (
    id            {identity},
    name          text not null unique,
    max_in_flight integer,                     -- null: slots are not counted, and settling does not touch the row
    interval_us   bigint not null default 0,   -- 0: no rate
    burst         integer not null default 1,
    trip_after    integer,                     -- null: no breaker
    cooldown_us   bigint not null default 0,
    in_flight     integer not null default 0 check (in_flight >= 0),
    tat           bigint not null default 0,
    failures      integer not null default 0,
    tripped_until bigint not null default 0,
    open_after    bigint not null default 0,
    wake_at       bigint,                      -- set whenever time keeps it closed and a lane is parked on it
    closed_tag    text,
    closed_reason text,
    last_failure  bigint,
    last_error    text
);
create index gates_wake on gates (wake_at) where wake_at is not null;

-- A lane is a set of gates. It never changes its gates, so a release always finds the gates that were taken.
create table lanes (
    id        {identity},
    key       text not null unique,
    gates     {gate_list} not null,
    status    text not null default 'idle' check (status in ('idle', 'ready', 'parked')),
    parked_on bigint,
    position  bigint not null default 0,       -- ready lanes are served in this order
    served_at bigint not null default 0,
    floor     bigint not null default 0,       -- no due task ranks below: spares PostgreSQL the dead rows of those already taken
    check ((status = 'parked') = (parked_on is not null))
);
create index lanes_ready on lanes (position, id) where status = 'ready';
create index lanes_parked on lanes (parked_on, position, id) where status = 'parked';

create table workers (
    id          {identity},
    name        text not null,
    host        text not null,
    pid         integer not null,
    lease_us    bigint not null,
    lease_until bigint not null,
    started_at  bigint not null,
    lost_at     bigint,
    stopped_at  bigint
);
create index workers_open on workers (lease_until) where stopped_at is null;

create table tasks (
    id           {identity},
    kind         text not null,
    stage        text not null,
    state        text not null check (state in ({states})),
    lane_id      bigint not null,              -- no foreign key: lanes are never removed, and checking it would double the cost of an insert
    due          integer not null,             -- 1: stands in its lane and may be claimed
    run_at       bigint,                       -- not null: waits for this time
    rank         bigint not null,              -- order within the lane: when it came, less its head start
    priority     integer not null,
    claim        integer not null default 0,   -- the fence: rises by one at every claim, never falls
    failures     integer not null default 0,
    crashes      integer not null default 0,
    cancelling   integer not null default 0,
    worker_id    bigint,                       -- who holds it, or held it last
    started_at   bigint,
    tracking_id  bigint,                       -- null: the task is its own root
    parent_id    bigint,
    depth        integer not null default 0,
    ancestry     text not null default '[]',
    url          text,
    lineage_key  text,
    dedupe_key   text,
    payload      text not null,
    checkpoint   text,
    reason       text,
    error_name   text,
    created_at   bigint not null,
    finished_at  bigint,
    check (due = 0 or run_at is null),
    check ((state in ({waiting})) = (due = 1 or run_at is not null)),
    check (state <> 'running' or worker_id is not null),
    check ((state in ({live})) = (finished_at is null))
);
create index tasks_due on tasks (lane_id, rank, id) where due = 1;
create index tasks_delayed on tasks (run_at) where run_at is not null;
create index tasks_running on tasks (worker_id) where state = 'running';
create index tasks_finished on tasks (finished_at) where finished_at is not null;
create index tasks_failed on tasks (error_name, finished_at) where state = 'failed';
create index tasks_lineage on tasks (tracking_id, kind, lineage_key) where tracking_id is not null;
create unique index tasks_live_key on tasks (kind, dedupe_key) where dedupe_key is not null and finished_at is null;

-- One row per attempt, written with the settlement: the history a person reads.
create table attempts (
    task_id    bigint not null,
    claim      integer not null,
    stage      text not null,
    worker_id  bigint,
    started_at bigint,
    ended_at   bigint not null,
    ending     text not null,
    reason     text,
    error_name text,
    primary key (task_id, claim)
){compact};

create table refusals (
    id          {identity},
    at          bigint not null,
    parent_id   bigint not null,
    tracking_id bigint not null,
    kind        text not null,
    url         text,
    lineage_key text,
    rule        text not null,
    detail      text not null
);
create index refusals_tracking on refusals (tracking_id);

create table records (
    id         {identity},
    kind       text not null,
    key        text not null,
    data       text not null,
    first_task bigint not null,
    last_task  bigint not null,
    seen       integer not null default 1,
    created_at bigint not null,
    updated_at bigint not null,
    unique (kind, key)
);
create table links (
    record_id  bigint not null references records (id),
    name       text not null,
    target     text not null,
    task_id    bigint not null,
    created_at bigint not null,
    primary key (record_id, name, target)
){compact};
create index links_target on links (name, target);

create table events (
    id      {identity},
    at      bigint not null,
    kind    text not null,
    task_id bigint,
    gate_id bigint,
    detail  text not null
);
create index events_at on events (at);

create table sources (
    name       text primary key,
    gate_id    bigint not null references gates (id),
    app        text,
    created_at bigint not null
);

create table settings (
    name       text primary key,
    value      text not null,
    changed_at bigint not null,
    changed_by text not null
);
create table setting_changes (
    id         {identity},
    name       text not null,
    old        text,
    new        text,
    changed_at bigint not null,
    changed_by text not null
);

create table schedules (
    name       text primary key,
    app        text not null,
    entry      text not null,
    cron       text,
    every_us   bigint,
    timezone   text not null,
    missed     text not null check (missed in ('skip', 'one', 'all')),
    next_at    bigint,
    last_at    bigint,
    paused     integer not null default 0
);

create table blobs (
    hash       text primary key,
    size       bigint not null,
    body       {bytes} not null,
    created_at bigint not null
);
