-- A lane belongs to a scope, the kind and stage of its tasks, as well as to its gates: a worker claims from the lanes of the scopes it
-- knows. Tasks of several scopes that shared a lane are parted; their gates stay the same.

create table scopes (
    id    {identity},
    kind  text not null,
    stage text not null,
    unique (kind, stage)
);
insert into scopes (kind, stage) select kind, stage from tasks group by kind, stage order by kind, stage;

-- What each worker serves.
create table worker_scopes (
    worker_id bigint not null,
    scope     bigint not null,
    primary key (worker_id, scope)
){compact};

drop index lanes_ready;
drop index lanes_parked;
{postgres}alter table lanes drop constraint lanes_key_key;
{postgres}alter table lanes add column scope bigint not null default 0;
{postgres}alter table lanes add constraint lanes_place unique (key, scope);
{sqlite}alter table lanes rename to old_lanes;
{sqlite}create table lanes (
{sqlite}    id        {identity},
{sqlite}    key       text not null,
{sqlite}    gates     {gate_list} not null,
{sqlite}    status    text not null default 'idle' check (status in ('idle', 'ready', 'parked')),
{sqlite}    parked_on bigint,
{sqlite}    position  bigint not null default 0,
{sqlite}    served_at bigint not null default 0,
{sqlite}    floor     bigint not null default 0,
{sqlite}    scope     bigint not null default 0,
{sqlite}    unique (key, scope),
{sqlite}    check ((status = 'parked') = (parked_on is not null))
{sqlite});
{sqlite}insert into lanes (id, key, gates, status, parked_on, position, served_at, floor)
{sqlite}    select id, key, gates, status, parked_on, position, served_at, floor from old_lanes order by id;
{sqlite}drop table old_lanes;

-- A lane keeps the first of its scopes; for every other one there is a new lane through the same gates.
create table lane_scopes as
    select t.lane_id, s.id as scope from tasks t join scopes s on s.kind = t.kind and s.stage = t.stage group by t.lane_id, s.id;
create index lane_scopes_lane on lane_scopes (lane_id, scope);
update lanes set scope = coalesce((select min(x.scope) from lane_scopes x where x.lane_id = lanes.id), 0);
insert into lanes (key, gates, status, parked_on, position, served_at, floor, scope)
    select l.key, l.gates, l.status, l.parked_on, l.position, l.served_at, l.floor, x.scope
    from lane_scopes x join lanes l on l.id = x.lane_id where x.scope <> l.scope order by l.id, x.scope;
update tasks set lane_id = (
        select n.id from lanes o join lanes n on n.key = o.key join scopes s on s.id = n.scope
        where o.id = tasks.lane_id and s.kind = tasks.kind and s.stage = tasks.stage)
    where exists (select 1 from lanes o join scopes s on s.id <> o.scope
        where o.id = tasks.lane_id and s.kind = tasks.kind and s.stage = tasks.stage);
drop table lane_scopes;

-- Whoever is parked is woken scope by scope from now on: every gate with somebody parked looks again at the next claim.
update gates set wake_at = 0 where id in (select parked_on from lanes where status = 'parked');

create index lanes_ready on lanes (scope, position, id) where status = 'ready';
create index lanes_parked on lanes (parked_on, scope, position, id) where status = 'parked';
