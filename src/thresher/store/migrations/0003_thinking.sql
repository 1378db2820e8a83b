-- Thinking: what models cost and answered, what was learned of sites, and vectors.
-- Money is whole millionths of a dollar.

-- What is spent and promised of one cap, by all workers together: 'day:2026-11-15', 'app:NAME:2026-11-15', 'run:TRACKING_ID'. Each is
-- the sum of its ledger rows, kept so that a call need not add up a day. A row that was removed comes back from the ledger.
create table budgets (
    scope    text primary key,
    spent    bigint not null check (spent >= 0),
    reserved bigint not null check (reserved >= 0),
    used_at  bigint not null
);
create index budgets_used on budgets (used_at);

-- The ledger: one row per call of a model, written before the call. reserved: the worst it may cost is held back. settled: it is
-- known what it cost. assumed: nobody will ever say, so all of it counts as spent.
create table spendings (
    id            {identity},
    at            bigint not null,
    day           text not null,               -- of `at`, in UTC: whose caps it counts against
    task_id       bigint,                      -- null: a call on nobody's behalf
    claim         integer,
    tracking_id   bigint,
    app           text not null,
    provider      text not null,
    model         text not null,
    prompt        text not null,
    question      text not null,
    reserved      bigint not null check (reserved >= 0),
    spent         bigint check (spent >= 0),
    input_tokens  bigint not null default 0,
    output_tokens bigint not null default 0,
    state         text not null check (state in ('reserved', 'settled', 'assumed')),
    expires_at    bigint not null,
    ended_at      bigint,
    check ((task_id is null) = (claim is null)),
    check ((state = 'reserved') = (spent is null))
);
-- Two may not pay for one question at the same time.
create unique index spendings_asked on spendings (question) where state = 'reserved';
create index spendings_open on spendings (expires_at, id) where state = 'reserved';
create index spendings_question on spendings (question, id);
create index spendings_day on spendings (day, app);
create index spendings_run on spendings (tracking_id) where tracking_id is not null;
create index spendings_task on spendings (task_id) where task_id is not null;
create index spendings_at on spendings (at);

-- Answers by their question: the same question is never paid for twice.
create table answers (
    question text primary key,
    body     text not null,
    model    text not null,
    prompt   text not null,
    cost     bigint not null,
    at       bigint not null,
    used_at  bigint not null,
    hits     bigint not null default 0
);
create index answers_prompt on answers (prompt);
create index answers_used on answers (used_at);

-- How often an answer was used again instead of paid for, and what that would have cost: counted, not listed, because a site that
-- is read every night uses every answer every night.
create table reuses (
    day    text not null,
    app    text not null,
    run    bigint not null,                    -- the tracking id, 0 where there is none
    model  text not null,
    prompt text not null,
    number bigint not null,
    saved  bigint not null,
    primary key (day, app, run, model, prompt)
);

-- What was learned of a site: how to read one kind of thing there without a model.
create table extractors (
    id            {identity},
    site          text not null,
    schema_name   text not null,
    schema_digest text not null,
    version       integer not null check (version > 0),
    state         text not null check (state in ('active', 'retired', 'doubtful')),
    score         double precision not null,
    body          text not null,
    good          bigint not null default 0,   -- pages that it read well
    drifted       bigint not null default 0,   -- pages that no longer looked as they should
    last_drift    text,
    drift_at      bigint,
    made_at       bigint not null,
    unique (site, schema_name, version)
);
create unique index extractors_active on extractors (site, schema_name) where state = 'active';

-- Pages whose values are known, to learn from.
create table examples (
    id            {identity},
    site          text not null,
    schema_name   text not null,
    schema_digest text not null,
    page          text not null,               -- the hash under which its text is stored
    labels        text not null,
    labelled_by   text not null check (labelled_by in ('model', 'data', 'person')),
    trust         integer not null,            -- who labelled it, as a number: a person outranks data, and data a model
    url           text,
    at            bigint not null,
    unique (site, schema_name, schema_digest, page)
);

create table vectors (
    model   text not null,
    version text not null,
    kind    text not null,
    key     text not null,
    dims    integer not null check (dims > 0),
    body    {bytes} not null,                  -- float32, little endian
    placed  integer not null default 0,        -- 1: PostgreSQL's vector extension has a copy
    primary key (model, version, kind, key)
);
create index vectors_unplaced on vectors (model, version, kind, key) where placed = 0;

-- Where the values of a record stand. Null: nobody said.
alter table records add column evidence text;
