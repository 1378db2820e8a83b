-- Lanes and the gates of hosts that nobody needs any more are removed. A lane stays while a task or a group refers to it, a gate while
-- a lane, a permit or an event does.

-- Every task that neither stands in its lane nor runs: with tasks_due and tasks_running this finds all tasks of a lane. Enqueueing and
-- claiming pay nothing for it.
create index tasks_lane on tasks (lane_id) where due = 0 and state <> 'running';

-- Lanes that pruning has yet to look at. `since`: when one was last looked up or looked at; 0: its tasks have just been removed.
create table loose_lanes (
    lane_id bigint primary key,
    since   bigint not null
);
create index loose_lanes_since on loose_lanes (since, lane_id);
insert into loose_lanes (lane_id, since) select id, 0 from lanes;

-- The lanes of each host. Only gates of hosts are ever removed.
create table host_lanes (
    gate_id bigint not null,
    lane_id bigint not null,
    primary key (gate_id, lane_id)
){compact};
create index host_lanes_lane on host_lanes (lane_id);
{postgres}insert into host_lanes (gate_id, lane_id) select distinct g.id, l.id
{postgres}    from lanes l cross join unnest(l.gates) x(id) join gates g on g.id = x.id where g.name like 'host:%';
{sqlite}insert into host_lanes (gate_id, lane_id) select distinct g.id, l.id
{sqlite}    from lanes l, json_each('[' || replace(l.gates, ' ', ',') || ']') x join gates g on g.id = x.value where g.name like 'host:%';

-- The lane of the task that follows a group, until that task is made.
alter table task_groups add column then_lane bigint;
{postgres}update task_groups set then_lane = cast(cast(follow_up as json) ->> 'lane_id' as bigint) where follow_up is not null;
{sqlite}update task_groups set then_lane = json_extract(follow_up, '$.lane_id') where follow_up is not null;
create index task_groups_then_lane on task_groups (then_lane) where follow_up is not null;

-- 1: a person has set its limits, so it is never removed. Until now nobody noted who set them: what differs from the defaults counts.
alter table gates add column pinned integer not null default 0;
update gates set pinned = 1 where name like 'host:%'
    and not (coalesce(max_in_flight, -1) = 1 and coalesce(own_interval_us, interval_us) = 1000000 and burst = 1
        and coalesce(trip_after, -1) = 5 and cooldown_us = 300000000);
create index events_gate on events (gate_id) where gate_id is not null;
create index sources_gate on sources (gate_id);
