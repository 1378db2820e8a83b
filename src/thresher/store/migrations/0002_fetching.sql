-- Fetching: what is reserved for single requests, what sites ask of us, and the pages that are kept.

-- The start of the last request, as the server sees it. `tat` admits; this makes the gap between two starts exact.
alter table gates add column last_start bigint not null default 0;
-- What robots.txt asks for, and the interval that stood before we followed it. Null: nothing was raised.
alter table gates add column crawl_delay_us bigint not null default 0;
alter table gates add column own_interval_us bigint;
-- Since when and why robots.txt is not asked. Null: it is.
alter table gates add column robots_waived_at bigint;
alter table gates add column robots_waived_reason text;

-- One slot of one gate, held for one request outside the lane of its task. A permit for several gates is several rows: the
-- first bears its number, the others name it as their lead.
create table permits (
    id         {identity},
    lead       bigint,
    gate_id    bigint not null,
    task_id    bigint,                         -- null: a request on nobody's behalf
    claim      integer,
    holder     bigint,                         -- the worker
    taken_at   bigint not null,
    expires_at bigint not null,
    check ((task_id is null) = (claim is null))
);
create index permits_lead on permits (lead) where lead is not null;
create index permits_gate on permits (gate_id);
create index permits_taken on permits (taken_at);
create index permits_task on permits (task_id) where task_id is not null;

create table pages (
    key        text primary key,               -- made by the caching rules: everything that may change the answer is in it
    url        text not null,
    host       text not null,
    method     text not null,
    status     integer not null,
    headers    text not null,
    hash       text not null,                  -- the body, in blobs
    fetched_at bigint not null,
    stored     text not null,                  -- whatever the caching rules need; nobody else reads it
    expires_at bigint,                         -- null: reckoned from fetched_at
    confirmed  integer not null default 0      -- how often the site said that it still stands
);
create index pages_host on pages (host, fetched_at);
create index pages_hash on pages (hash);
create index pages_age on pages ((coalesce(expires_at, fetched_at)));

-- 1: a stage saved it and may have written its hash anywhere; it stays. 0: it came with a page and goes with the last of them.
alter table blobs add column saved integer not null default 1;
-- Bodies that lost a page. Looked at by pruning, so that nobody has to search all bodies for those that are left over.
create table loose_blobs (
    hash text primary key
);
