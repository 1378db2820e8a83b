-- When an extraction was last resumed, retried or read again: the time that its recipe lets it take counts from here.
alter table extractions add column resumed_at bigint not null default 0;
