-- Which platforms a key may look at, and who made it. Words with spaces between them; null: wherever it likes.
alter table api_keys add column sources text;
alter table api_keys add column made_by text;

-- Administrators: those who log in with a password, of which only a slow hash is kept, with what it was made with beside it.
create table admins (
    id          {identity},
    name        text not null unique,
    password    text not null,
    created_at  bigint not null,
    changed_at  bigint not null,                -- when the password was last changed
    login_at    bigint
);

-- Who is logged in. What the browser holds is never stored, only its hash.
create table logins (
    digest      text primary key,               -- SHA-256 of the token
    admin_id    bigint not null references admins (id) on delete cascade,
    created_at  bigint not null,
    expires_at  bigint not null
){compact};
create index logins_admin on logins (admin_id);
create index logins_expires on logins (expires_at);

-- How often somebody has tried a password: one timestamp for each name and each address, for all processes at once.
create table login_tries (
    what        text primary key,
    tat         bigint not null                 -- when the next try would be due at an even pace
){compact};
create index login_tries_tat on login_tries (tat);

-- The token with which the first administrator is made: one at a time, the newest.
create table setup (
    id          integer primary key check (id = 1),
    digest      text not null,
    expires_at  bigint not null
);
