-- Adopts the tables that number 6 of Thresher's own migrations made, when they still were its own; in a database that lacks them they
-- are made here.

-- Roles: what candidates want, and the queue in which scrapers outside take their turns. Candidates and postings are records; a
-- candidate is linked to a role by ("wants", id), a posting by ("role", id).
create table if not exists roles (
    id            {identity},
    name          text not null,
    status        text not null check (status in ('proposed', 'pending', 'processing', 'completed', 'rejected')),
    priority      text not null default 'normal' check (priority in ('urgent', 'high', 'normal', 'low')),
    category      text,
    method        text not null,                -- how it came to be: manual, rules, model, split
    candidates    bigint not null default 0,    -- how many want it; counted anew whenever one comes or goes
    imported      bigint not null default 0,    -- postings that were new when they came in for it
    waiting_since bigint not null,
    rank          bigint not null,              -- since when it waits, less its head start
    claim         bigint not null default 0,    -- the fence: rises by one with every session, never falls
    session_id    bigint,                       -- who holds it
    scraped_at    bigint,                       -- when a session last completed it
    created_at    bigint not null,
    updated_at    bigint not null,
    check ((status = 'processing') = (session_id is not null))
);
create index if not exists roles_status on roles (status, rank, id);

-- Every name that a role answers to, its own included; `key` is the name as names are compared.
create table if not exists role_names (
    key     text primary key,
    name    text not null,
    role_id bigint not null
){compact};
create index if not exists role_names_role on role_names (role_id);

-- Where scrapers look, for those who want to say it. Without a row every scraper looks wherever it likes.
create table if not exists platforms (
    name          text primary key,
    every_us      bigint not null default 0,    -- from one start at a role to the next
    per_minute    integer,                      -- requests that a scraper may make there; told to scrapers, not counted here
    in_flight     integer,                      -- sessions at the same time; null: any number
    failures      integer not null default 0,   -- in a row, whatever the role
    paused_until  bigint not null default 0,
    paused_tag    text,
    paused_reason text,
    created_at    bigint not null
);

-- One role on one platform ('' where there are no platforms). `later` becomes `waiting` when it is due.
create table if not exists role_turns (
    role_id   bigint not null,
    platform  text not null,
    state     text not null check (state in ('waiting', 'later', 'held', 'done')),
    rank      bigint not null,                  -- that of the role, copied so that one index has the order
    due_at    bigint not null default 0,
    failures  integer not null default 0,       -- in a row
    verdict   text,                             -- how the last look ended
    looked_at bigint,                           -- when the last look began
    primary key (role_id, platform)
){compact};
create index if not exists role_turns_waiting on role_turns (platform, rank, role_id) where state = 'waiting';
create index if not exists role_turns_later on role_turns (due_at, role_id) where state = 'later';
create index if not exists role_turns_held on role_turns (platform, role_id) where state = 'held';

-- A session: a claim on a role that a scraper holds over HTTP.
create table if not exists scrape_sessions (
    id            {identity},
    session_id    text not null unique,
    key_id        bigint not null,
    scraper_name  text not null,
    role_id       bigint not null,
    role_name     text not null,
    claim         bigint not null,              -- the fence that it was given
    platforms     text not null,                -- JSON list; empty: wherever it likes
    status        text not null default 'in_progress' check (status in ('in_progress', 'completed', 'failed', 'timeout')),
    verdict       text,
    started_at    bigint not null,
    updated_at    bigint not null,
    lease_until   bigint not null,
    completed_at  bigint,
    found         bigint not null default 0,
    imported      bigint not null default 0,
    updated       bigint not null default 0,
    linked        bigint not null default 0,
    skipped       bigint not null default 0,
    error_message text
);
create index if not exists scrape_sessions_open on scrape_sessions (lease_until, id) where status = 'in_progress';
create index if not exists scrape_sessions_started on scrape_sessions (started_at, id);
create index if not exists scrape_sessions_key on scrape_sessions (key_id, id);
create index if not exists scrape_sessions_role on scrape_sessions (role_id, id);

-- What each body was answered: the same one again gets the same answer and changes nothing.
create table if not exists scrape_posts (
    session_id bigint not null,
    digest     text not null,
    answer     text not null,
    created_at bigint not null,
    primary key (session_id, digest)
){compact};

-- Bodies that came too late to count. They are kept until a person decides.
create table if not exists late_posts (
    id         {identity},
    session_id bigint not null,
    digest     text not null,
    hash       text not null,                   -- of the blob that holds the body
    postings   bigint not null,
    reason     text not null,
    created_at bigint not null,
    decided_at bigint,
    decision   text check (decision in ('imported', 'dropped')),
    unique (session_id, digest)
);

-- How well a candidate and a posting go together. Scores are in hundredths; both ids are those of records.
create table if not exists matches (
    candidate_id bigint not null,
    posting_id   bigint not null,
    role_id      bigint not null,               -- the role that brought them together
    score        integer not null,
    skills       integer not null,
    experience   integer not null,
    location     integer not null,
    salary       integer not null,
    semantic     integer not null,
    status       text not null default 'suggested' check (status in ('suggested', 'viewed', 'applied', 'rejected', 'shortlisted')),
    note         text,
    created_at   bigint not null,
    matched_at   bigint not null,
    primary key (candidate_id, posting_id)
){compact};
create index if not exists matches_best on matches (candidate_id, score, posting_id);
create index if not exists matches_posting on matches (posting_id, candidate_id);
