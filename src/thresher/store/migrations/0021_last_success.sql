-- When a task or a request last went well behind a gate; 0: never.
alter table gates add column last_success bigint not null default 0;
