-- What people wrote into the outputs, what an output last showed, and the alarms.

-- What the human cells of the sheet showed when it was last read or written: who differs from it was changed there by a person.
create table sheet_rows (
    company    text primary key,
    resolution text not null,
    feedback   text not null,          -- '' for none
    notes      text not null,
    seen_at    bigint not null
){compact};

-- Rows that were added to the sheet and not seen there since, as they were written: a sync that failed could not look any more.
create table sheet_unseen (
    company text primary key,
    cells   text not null              -- JSON
){compact};

-- How each output stands.
create table output_state (
    output     text primary key,       -- sheet, csv, xlsx, jsonl
    ok_at      bigint not null default 0,
    failed_at  bigint not null default 0,
    failures   integer not null default 0,     -- in a row
    note       text,
    digest     text,                   -- of the file whose edits are all known: as it was written, or as it was read
    written_at bigint not null default 0
){compact};

create table query_alarms (
    id           {identity},
    name         text not null,
    subject      text not null,
    message      text not null,
    raised_at    bigint not null,
    last_at      bigint not null,
    times        bigint not null default 1,
    told_at      bigint not null default 0,
    told_message text,
    cleared_at   bigint not null default 0,    -- 0 while it is open
    clear_told   integer not null default 0
);
create unique index query_alarms_open on query_alarms (name, subject) where cleared_at = 0;
create index query_alarms_untold on query_alarms (clear_told, cleared_at);

-- The day (in the project's time zone) whose digest was told last.
create table alarm_digests (
    id       integer primary key,
    told_day text not null
);
