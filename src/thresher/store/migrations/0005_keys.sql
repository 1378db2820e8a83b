-- Keys of the HTTP API. What a person holds is never stored: only its hash, and the few characters it is recognised by.
create table api_keys (
    id          {identity},
    name        text not null,
    prefix      text not null unique,
    digest      text not null,                  -- SHA-256 of the whole token
    scopes      text not null,                  -- words with spaces between them
    rate        integer not null,               -- requests a minute
    tat         bigint not null default 0,      -- when the next request would be due at an even pace; one timestamp for all processes
    used        bigint not null default 0,
    created_at  bigint not null,
    used_at     bigint,
    expires_at  bigint,                         -- null: never
    revoked_at  bigint,
    check (rate > 0)
);
-- A name may be given again once its key is revoked; the old row stays, for whoever asks later.
create unique index api_keys_name on api_keys (name) where revoked_at is null;
