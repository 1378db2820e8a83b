-- A query and how it stands. What it searches for makes its key; everything else may change and keeps the history.
create table query_state (
    query_key            text primary key,
    client               text not null,
    source               text not null,                  -- what is paused and stopped with it: the client, or its host
    name                 text not null,
    search               text not null default '',
    parameters           text not null,                  -- JSON
    max_pages            integer,                        -- null: as the settings say
    max_offers           integer,
    start_date           text,                           -- the day that its history begins with; null: as the settings say
    origin               text not null check (origin in ('file', 'person')),
    status               text not null default 'IDLE' check (status in ('IDLE', 'RUNNING', 'SUCCESS', 'ERROR')),
    last_run_at          bigint not null default 0,
    last_success_at      bigint not null default 0,
    last_error_at        bigint not null default 0,
    last_processed_date  text,
    consecutive_failures integer not null default 0,
    empty_runs           integer not null default 0,     -- in a row that brought nothing new
    error_message        text,
    due_at               bigint not null default 0,
    paused_at            bigint not null default 0,
    paused_reason        text,
    retired_at           bigint not null default 0,
    metadata             text not null default '{}',     -- JSON: the days that were seen
    created_at           bigint not null
);
create index query_state_due on query_state (due_at, query_key) where retired_at = 0 and paused_at = 0;

-- One execution of a query. It is known by the task that carries it out, and by its number there.
create table ingestion_runs (
    id                   {identity},
    task_id              bigint not null,
    serial               integer not null,
    query_key            text not null,
    client               text not null,
    status               text not null check (status in ('IDLE', 'RUNNING', 'SUCCESS', 'ERROR')),
    started_at           bigint not null,
    finished_at          bigint,
    updated_since        text,                           -- the first day asked for
    window_from          text,
    window_to            text,
    pages_fetched        integer not null default 0,
    offers_fetched       integer not null default 0,
    offers_new           integer not null default 0,
    offers_updated       integer not null default 0,
    offers_known         integer not null default 0,
    offers_gone          integer not null default 0,
    reposts              integer not null default 0,
    details_fetched      integer not null default 0,
    requests_count       integer not null default 0,
    http_429_count       integer not null default 0,
    errors_count         integer not null default 0,
    retries              integer not null default 0,
    companies_aggregated integer not null default 0,
    companies_failed     integer not null default 0,
    stop_reason          text,
    verdict              text,
    note                 text,
    unique (task_id, serial)
);
create index ingestion_runs_query on ingestion_runs (query_key, id);
create index ingestion_runs_started on ingestion_runs (started_at, id);
create index ingestion_runs_running on ingestion_runs (status, id) where status = 'RUNNING';

-- What each query has found: a posting belongs to every query that found it.
create table query_finds (
    query_key  text not null,
    posting    text not null,
    first_seen bigint not null,
    last_seen  bigint not null,
    missed     integer not null default 0,               -- whole lists in a row without it
    primary key (query_key, posting)
){compact};
create index query_finds_posting on query_finds (posting);
create index query_finds_seen on query_finds (query_key, last_seen);

-- The project's own clients.
create table query_clients (
    client     text primary key,
    definition text not null,                            -- YAML
    updated_at bigint not null
);

-- How a client was set up when it was stopped: with another set-up it works again.
create table stopped_clients (
    source     text primary key,
    client     text not null,
    setup      text not null,
    stopped_at bigint not null
);

-- What the project file says besides the queries: rules, sheet, alarms.
create table query_options (
    name       text primary key,
    value      text not null,
    updated_at bigint not null
);
