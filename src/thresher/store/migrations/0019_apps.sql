-- The migrations of apps: each app numbers its own, and they are applied after Thresher's.
create table app_migrations (
    app        text not null,
    number     integer not null,
    name       text not null,
    applied_at bigint not null,
    primary key (app, number)
){compact};

-- The app that each kind of task belongs to, as the process that last ran it said: tasks outlive the app that knows them.
create table app_kinds (
    kind text primary key,
    app  text not null
){compact};
