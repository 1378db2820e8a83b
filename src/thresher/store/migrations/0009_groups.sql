-- Groups of tasks, and runs. Members are counted in the transactions that change them, so a group knows when its last one has ended.

create table task_groups (
    id          {identity},
    name        text not null,
    key         text not null,
    open_key    text,                        -- the key until the group ends for the first time: no second one is opened meanwhile
    app         text not null,
    opener_id   bigint not null,             -- the task that opened it
    parent_id   bigint,                      -- the group of that task, which ends after this one; always an older row
    live        bigint not null default 0,   -- members that have not ended
    open_groups bigint not null default 0,   -- groups below that have not ended
    succeeded   bigint not null default 0,
    filtered    bigint not null default 0,
    skipped     bigint not null default 0,
    failed      bigint not null default 0,
    cancelled   bigint not null default 0,
    refused     bigint not null default 0,   -- spawns that did not happen
    follow_up   text,                        -- the task that follows, as JSON, until it is made
    then_id     bigint,                      -- the task that follows, once it is made
    opened_at   bigint not null,
    ended_at    bigint,
    subject     text,                        -- not null: a run
    since       bigint,
    until       bigint,
    stop_reason text,
    verdict     text
);
-- One row may be changed a thousand times a second.
{postgres}alter table task_groups set (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
{postgres}    autovacuum_vacuum_cost_delay = 0);
create unique index task_groups_open_key on task_groups (name, open_key) where open_key is not null;
create index task_groups_running on task_groups (id) where ended_at is null;
create index task_groups_opener on task_groups (opener_id);
create index task_groups_parent on task_groups (parent_id) where parent_id is not null;
create index task_groups_then on task_groups (then_id) where then_id is not null;

create table group_counts (
    group_id bigint not null,
    name     text not null,
    number   bigint not null,
    primary key (group_id, name)
){compact};

alter table tasks add column group_id bigint;
create index tasks_group on tasks (group_id) where group_id is not null;
