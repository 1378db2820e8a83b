-- A key that is switched off opens nothing until it is switched on again; null: it is on.
alter table api_keys add column disabled_at bigint;
