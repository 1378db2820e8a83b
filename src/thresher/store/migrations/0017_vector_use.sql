-- When each vector was last used, to the day. Those that are there count as used now.
{postgres}alter table vectors add column used_at bigint not null default cast(extract(epoch from now()) * 1000000 as bigint);
{postgres}alter table vectors alter column used_at set default 0;
{sqlite}alter table vectors add column used_at bigint not null default 0;
{sqlite}update vectors set used_at = cast(strftime('%s', 'now') as integer) * 1000000;
create index vectors_used on vectors (used_at);
