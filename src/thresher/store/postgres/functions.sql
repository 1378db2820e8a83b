-- The hot path on PostgreSQL: settle and claim, one call, one transaction, one round trip.
-- Installed anew whenever this file changes; the tables belong to the numbered migrations.
--
-- Lock order, kept by everything that writes:
--   lanes by id (waits), tasks by id (waits), groups from the newest to the oldest (waits), gates by id (waits), parked lanes (never waits).
--   A claim takes lanes and gates without ever waiting, so it may follow a settlement in the same transaction.
--
-- Shapes that look odd are deliberate. A generic plan is made once and kept, often while the tables are empty:
--   "(select ... order by ... limit 1) is not null" instead of "exists": it cannot become a join over all parked lanes.
--   "state || '' = 'running'": keeps the planner away from the partial index of running tasks, for a lookup by id.
--   the time is assigned to a variable first: a volatile call in a predicate would disable the index.
--   "from generate_series(1, n) i" and a[i], b[i] instead of "unnest(a, b)": that reads every array into a table of its own, and
--   is taken for ten rows, for which the planner compares each with each.
--   functions are called by an assignment: a statement would cost as much again as many of them do.

create or replace function now_us() returns bigint language sql volatile parallel safe
    return (extract(epoch from clock_timestamp()) * 1000000)::bigint;

-- The arithmetic of core/gate.py; a property test holds the two together.

-- How far the rate is ahead of time; never more than a full bucket.
create or replace function gate_ahead(tat bigint, interval_us bigint, burst int, now bigint)
returns bigint language sql immutable parallel safe
    return least(greatest(tat - now, 0), burst * interval_us);

create or replace function gate_allowance(g gates, now bigint) returns int language sql immutable parallel safe
    return case when g.open_after > now or g.tripped_until > now then 0 else greatest(0, least(
        coalesce(g.max_in_flight - g.in_flight, 1000000),
        case when g.interval_us > 0
             then ((g.burst * g.interval_us - gate_ahead(g.tat, g.interval_us, g.burst, now)) / g.interval_us)::int
             else 1000000 end,
        case when g.failures >= g.trip_after then 1 else 1000000 end)) end;

create or replace function gate_opens_at(closed_until bigint, tat bigint, interval_us bigint, burst int, now bigint)
returns bigint language sql immutable parallel safe
    return nullif(greatest(closed_until, now, case when interval_us > 0
        then now + gate_ahead(tat, interval_us, burst, now) - (burst - 1) * interval_us else 0 end), now);

-- Put lanes into the ready order at the rank of their best due task, never before their last turn. The caller holds them.
create or replace function make_ready(lane_ids bigint[], ranks bigint[]) returns void language sql
begin atomic
    update lanes l set
        position = case l.status when 'idle' then greatest(r.rank, l.served_at)
                                 else least(l.position, greatest(r.rank, l.served_at)) end,
        floor = case l.status when 'idle' then r.rank else least(l.floor, r.rank) end,
        status = case l.status when 'idle' then 'ready' else l.status end
    from (select id, min(rank) as rank from unnest(lane_ids, ranks) u(id, rank) group by id) r
    where l.id = r.id;
end;

-- Unpark up to wants[i] lanes of gate_ids[i], whose rows the caller holds, in the scope whose[i]; where none is named, as many in each.
-- A lane that is woken may wait for a worker that knows its scope, and meanwhile wakes nobody: so each scope is woken by itself, and
-- whoever comes too late for what the gate allows is parked again. A lane that somebody else holds is skipped, and its gate is
-- returned as owing a wake: the caller sets its timer.
create or replace function wake(gate_ids bigint[], wants int[], whose bigint[], out owing bigint[], out woken int) language plpgsql as $$
begin
    with sleepers as materialized (
        select w.gate_id, w.n, s.scope from unnest(gate_ids, wants, whose) w(gate_id, n, whose) cross join lateral (
            select w.whose as scope where w.whose is not null
            union all (
                with recursive p as (
                    select (select l.scope from lanes l where l.status = 'parked' and l.parked_on = w.gate_id
                            order by l.scope, l.position, l.id limit 1) as scope where w.whose is null
                    union all
                    select (select l.scope from lanes l where l.status = 'parked' and l.parked_on = w.gate_id and l.scope > p.scope
                            order by l.scope, l.position, l.id limit 1) from p where p.scope is not null)
                select p.scope from p where p.scope is not null)) s),
    found as materialized (
        select w.gate_id, w.scope, x.id from sleepers w cross join lateral (
            select l.id from lanes l where l.status = 'parked' and l.parked_on = w.gate_id and l.scope = w.scope
            order by l.position, l.id limit w.n for no key update skip locked) x),
    up as (update lanes set status = 'ready', parked_on = null where id = any (array(select id from found)))
    select array_agg(w.gate_id) filter (where w.n > (select count(*) from found f where f.gate_id = w.gate_id and f.scope = w.scope)
      and (select l.id from lanes l where l.status = 'parked' and l.parked_on = w.gate_id and l.scope = w.scope
              and l.id <> all (array(select f.id from found f)) order by l.position, l.id limit 1) is not null),
           (select count(*)::int from found)
        into owing, woken from sleepers w;
end $$;

-- The scopes that have a ready lane, of those that are known; of all, where `known` is null. And whether the lane whose turn comes
-- first has no gates. One look by the index for each scope, however many lanes are ready in it.
create or replace function ready_scopes(known bigint[], out scopes bigint[], out open_first boolean) language plpgsql as $$
begin
    with recursive h as (
        (select l.scope, l.position, l.id, cardinality(l.gates) = 0 as open from lanes l where l.status = 'ready'
         order by l.scope, l.position, l.id limit 1)
        union all
        select n.scope, n.position, n.id, n.open from h cross join lateral (
            select l.scope, l.position, l.id, cardinality(l.gates) = 0 as open from lanes l where l.status = 'ready' and l.scope > h.scope
            order by l.scope, l.position, l.id limit 1) n)
    select array_agg(h.scope), (array_agg(h.open order by h.position, h.id))[1] into scopes, open_first
        from h where known is null or h.scope = any (known);
end $$;

-- Insert tasks given as JSON, and return the number (from 1) and the id of each that was inserted; where a live task has the same key,
-- that one keeps its place. Never waits for a lane. A task enters its lane here only if we hold the lane: a claim that holds it must not
-- miss the task. All others become delayed tasks whose time has come, and the next claim after our commit moves them into their lanes.
-- `due_lanes` are the lanes of the tasks that are due at once, each once, and `priorities` the highest priority among these. Both are
-- empty in a transaction that may stay open for long: lanes it held would be closed to every claim until it ends. `other_lanes` are the
-- rest. A lane that we do not hold is shared, so that pruning does not remove it before our commit; for that alone we wait. Where pruning
-- was faster nothing is inserted, and a row with the number -1 says so.
create or replace function insert_tasks(births json, due_lanes bigint[], priorities int[], other_lanes bigint[], head_start bigint, at bigint)
returns table (n bigint, id bigint) language plpgsql as $$
#variable_conflict use_column
declare
    now bigint; ids bigint[]; held bigint[]; missed bigint[] := '{}'; unheld bigint[]; shared bigint[];
    enters boolean := cardinality(due_lanes) > 0;
begin
    if enters then
        held := array(select l.id from lanes l where l.id = any (due_lanes) order by l.id for no key update skip locked);
        if cardinality(held) < cardinality(due_lanes) then
            missed := array(select unnest(due_lanes) except select unnest(held));
        end if;
    end if;
    unheld := missed || other_lanes;
    if cardinality(unheld) > 0 then
        shared := array(select l.id from lanes l where l.id = any (unheld) order by l.id for key share);
        if cardinality(shared) < cardinality(unheld) then
            return query select -1::bigint, null::bigint;
            return;
        end if;
    end if;
    now := coalesce(at, now_us());
    ids := array(select nextval(pg_get_serial_sequence('tasks', 'id')) from generate_series(1, json_array_length(births)));
    return query with i as (
        select * from rows from (json_to_recordset(births) as (kind text, stage text, lane_id bigint, delay bigint, priority int,
            tracking_id bigint, parent_id bigint, depth int, ancestry text, url text, lineage_key text, dedupe_key text, payload text,
            group_id bigint))
            with ordinality as x(kind, stage, lane_id, delay, priority, tracking_id, parent_id, depth, ancestry, url, lineage_key,
                                 dedupe_key, payload, group_id, n)),
    u as (
        insert into tasks (id, kind, stage, state, lane_id, due, run_at, rank, priority, tracking_id, parent_id, depth, ancestry,
                           url, lineage_key, dedupe_key, payload, created_at, group_id)
        select ids[i.n], i.kind, i.stage, 'pending', i.lane_id, (i.delay = 0 and enters and i.lane_id <> all (missed))::int,
               case when i.delay > 0 or not enters or i.lane_id = any (missed) then now + i.delay end,
               now + i.delay - i.priority * head_start, i.priority, i.tracking_id, i.parent_id, i.depth, i.ancestry, i.url,
               i.lineage_key, i.dedupe_key, i.payload, now, i.group_id
        from i
        on conflict (kind, dedupe_key) where dedupe_key is not null and finished_at is null do nothing
        returning id)
    select o.n, u.id from u join unnest(ids) with ordinality o(id, n) on o.id = u.id;
    if cardinality(held) > 0 then
        perform make_ready(array_agg(due_lanes[i]), array_agg(now - priorities[i] * head_start))
            from generate_series(1, cardinality(due_lanes)) i where due_lanes[i] <> all (missed);
    end if;
end $$;

-- Count what happened to groups: `ids` are groups, `whats` a column of each that changes, `numbers` by how much. A member that ended adds
-- to the column of its state, and is live no longer; one that was sent back takes that back. A group without live members and open groups
-- below it has ended: the task that follows is made, due at once, and the group above hears of it. A group that has ended and gets a live member is open again.
-- Groups are taken from the newest to the oldest: the group above is always older, so everybody takes them in one order. The task
-- that follows enters its lane as a delayed one does, because nobody may wait for a lane here; it has no key, so it waits for nobody.
create or replace function count_groups(ids bigint[], whats text[], numbers bigint[], head_start bigint, now bigint) returns void language plpgsql as $$
declare
    at bigint; g record; made bigint;
begin
    while cardinality(ids) > 0 loop
        at := (select max(x) from unnest(ids) x);
        update task_groups t set
            live        = t.live + d.live - d.succeeded - d.filtered - d.skipped - d.failed - d.cancelled,
            open_groups = t.open_groups + d.open_groups,
            succeeded   = t.succeeded + d.succeeded,
            filtered    = t.filtered + d.filtered,
            skipped     = t.skipped + d.skipped,
            failed      = t.failed + d.failed,
            cancelled   = t.cancelled + d.cancelled,
            refused     = t.refused + d.refused
        from (select coalesce(sum(numbers[i]) filter (where whats[i] = 'live'), 0) as live,
                     coalesce(sum(numbers[i]) filter (where whats[i] = 'open_groups'), 0) as open_groups,
                     coalesce(sum(numbers[i]) filter (where whats[i] = 'succeeded'), 0) as succeeded,
                     coalesce(sum(numbers[i]) filter (where whats[i] = 'filtered'), 0) as filtered,
                     coalesce(sum(numbers[i]) filter (where whats[i] = 'skipped'), 0) as skipped,
                     coalesce(sum(numbers[i]) filter (where whats[i] = 'failed'), 0) as failed,
                     coalesce(sum(numbers[i]) filter (where whats[i] = 'cancelled'), 0) as cancelled,
                     coalesce(sum(numbers[i]) filter (where whats[i] = 'refused'), 0) as refused
              from generate_series(1, cardinality(ids)) i where ids[i] = at) d
        where t.id = at returning t.* into g;
        select array_agg(ids[i]), array_agg(whats[i]), array_agg(numbers[i]) into ids, whats, numbers
            from generate_series(1, cardinality(ids)) i where ids[i] <> at;
        ids := coalesce(ids, '{}'); whats := coalesce(whats, '{}'); numbers := coalesce(numbers, '{}');
        if g.id is null then continue; end if;  -- removed, with its history
        if g.ended_at is null and g.live = 0 and g.open_groups = 0 then
            made := null;
            if g.follow_up is not null then
                insert into tasks (kind, stage, state, lane_id, due, run_at, rank, priority, tracking_id, parent_id, depth, ancestry, url,
                                   lineage_key, payload, created_at, group_id)
                    select f.kind, f.stage, 'pending', f.lane_id, 0, now + f.delay, now + f.delay - f.priority * head_start, f.priority,
                           f.tracking_id, f.parent_id, f.depth, f.ancestry, f.url, f.lineage_key, f.payload, now, g.parent_id
                    from json_to_record(g.follow_up::json) as f(kind text, stage text, lane_id bigint, delay bigint, priority int,
                        tracking_id bigint, parent_id bigint, depth int, ancestry text, url text, lineage_key text, payload text)
                    returning id into made;
            end if;
            update task_groups set ended_at = now, open_key = null, follow_up = null, then_id = coalesce(made, then_id) where id = at;
            insert into events (at, kind, task_id, detail)
                values (now, 'group_ended', g.opener_id, json_build_object('group', g.id, 'name', g.name, 'key', g.key, 'failed', g.failed)::text);
            if g.parent_id is not null then
                ids := ids || g.parent_id || g.parent_id; whats := whats || 'open_groups'::text || 'live'::text;
                numbers := numbers || -1::bigint || (made is not null)::int::bigint;
            end if;
        elsif g.ended_at is not null and (g.live > 0 or g.open_groups > 0) then
            update task_groups set ended_at = null where id = at;
            if g.parent_id is not null then
                ids := ids || g.parent_id; whats := whats || 'open_groups'::text; numbers := numbers || 1::bigint;
            end if;
        end if;
    end loop;
end $$;

-- Apply settlements (JSON, and their task ids, both in the order of the ids) to their tasks, behind the fence, and write the attempts that
-- the tasks themselves do not tell of: those that name their ending. Returns the numbers (from 1) of those that were let through, and the lane each task is in afterwards. The caller holds the lanes of
-- tasks that come back at once.
create or replace function fence(ids bigint[], settlements json, head_start bigint, now bigint,
                                 out hits int[], out hit_lanes bigint[], out hit_health boolean[], out cancelled int[],
                                 out group_ids bigint[], out group_states text[])
language plpgsql as $$
declare
    due_lanes bigint[]; due_ranks bigint[];
begin
    with i as materialized (
        select * from rows from (json_to_recordset(settlements) as (id bigint, claim int, at_stage text, ending text, state text,
            delay bigint, stage text, lane_id bigint, checkpoint text, reason text, error text, spent int, crashed int, healthy boolean))
            with ordinality
            as x(id, claim, at_stage, ending, state, delay, stage, lane_id, checkpoint, reason, error, spent, crashed, healthy, n)),
    u as (
        update tasks t set
            state       = case when i.state not in ('pending', 'retryable') then i.state
                               when t.cancelling = 1 then 'cancelled' else i.state end,
            due         = (i.state in ('pending', 'retryable') and i.delay = 0 and t.cancelling = 0)::int,
            run_at      = case when i.state in ('pending', 'retryable') and i.delay > 0 and t.cancelling = 0 then now + i.delay end,
            rank        = case when i.state in ('pending', 'retryable') then now + i.delay - t.priority * head_start else t.rank end,
            finished_at = case when i.state not in ('pending', 'retryable') or t.cancelling = 1 then now end,
            failures    = t.failures + coalesce(i.spent, 0),
            crashes     = t.crashes + coalesce(i.crashed, 0),
            stage       = case when t.cancelling = 1 then t.stage else coalesce(i.stage, t.stage) end,
            lane_id     = case when t.cancelling = 1 then t.lane_id else coalesce(i.lane_id, t.lane_id) end,
            checkpoint  = case when t.cancelling = 1 then t.checkpoint else coalesce(i.checkpoint, t.checkpoint) end,
            reason      = i.reason,
            error_name  = i.error
        from i where t.id = any (ids) and t.id = i.id and t.claim = i.claim and t.state || '' = 'running'
        returning i.n, t.id, t.claim, t.lane_id, t.state, t.group_id, t.finished_at, t.due, t.rank, t.worker_id, t.started_at, i.at_stage, i.ending, i.reason,
                  i.error, i.healthy),
    a as (
        insert into other_attempts (task_id, claim, stage, worker_id, started_at, ended_at, ending, reason, error_name)
        select u.id, u.claim, u.at_stage, u.worker_id, u.started_at, now, u.ending, u.reason, u.error from u where u.ending is not null)
    select array_agg(u.n::int), array_agg(u.lane_id), array_agg(u.healthy), array_agg(u.n::int) filter (where u.state = 'cancelled'),
           array_agg(u.lane_id) filter (where u.due = 1), array_agg(u.rank) filter (where u.due = 1),
           array_agg(u.group_id) filter (where u.group_id is not null and u.finished_at is not null),
           array_agg(u.state) filter (where u.group_id is not null and u.finished_at is not null)
        into hits, hit_lanes, hit_health, cancelled, due_lanes, due_ranks, group_ids, group_states from u;
    if due_lanes is not null then perform make_ready(due_lanes, due_ranks); end if;
end $$;

-- Give slots back and pass on good news; wake as many lanes as that allows. Only gates that count, are in trouble, or have heard nothing
-- good for a minute.
create or replace function release(hit_lanes bigint[], healthy boolean[], at bigint) returns int language plpgsql as $$
declare
    gate_ids bigint[]; ended int[]; good boolean[]; held bigint[]; troubled boolean; now bigint;
    opened bigint[]; wants int[]; owing bigint[];
begin
    select array_agg(c.gate_id), array_agg(c.n), array_agg(c.good) into gate_ids, ended, good from (
        select x.gate_id, count(*)::int as n, bool_or(healthy[i]) as good
        from generate_series(1, cardinality(hit_lanes)) i
            join lanes l on l.id = hit_lanes[i] and l.id = any (hit_lanes) cross join unnest(l.gates) x(gate_id)
        group by x.gate_id) c;
    if gate_ids is null then return 0; end if;
    now := coalesce(at, now_us());
    select array_agg(z.id), bool_or(z.failures > 0) into held, troubled from (
        select g.id, g.failures from gates g where g.id = any (gate_ids) and (g.max_in_flight is not null or g.failures > 0
            or (good[array_position(gate_ids, g.id)] and now - g.last_success not between 0 and 59999999))
        order by g.id for no key update) z;
    if held is null then return 0; end if;
    now := coalesce(at, now_us());  -- after the wait, never before it
    if troubled then
        insert into events (at, kind, gate_id, detail)
            select now, 'gate_recovered', g.id, '{}' from gates g join unnest(gate_ids, good) c(id, good) on c.id = g.id
            where g.id = any (held) and c.good and g.failures >= g.trip_after;
    end if;
    with u as (
        update gates g set
            in_flight     = case when g.max_in_flight is null then g.in_flight else greatest(0, g.in_flight - ended[i]) end,
            failures      = case when good[i] then 0 else g.failures end,
            last_success  = case when good[i] then now else g.last_success end,
            tripped_until = case when good[i] and g.failures > 0 then 0 else g.tripped_until end
        from generate_series(1, cardinality(gate_ids)) i where g.id = gate_ids[i] and g.id = any (held)
        returning g.id, least(64, gate_allowance(g, now), greatest(1, ended[i])) as n)
    select array_agg(u.id), array_agg(u.n) into opened, wants from u where u.n > 0;
    if (select l.id from lanes l where l.status = 'parked' order by l.parked_on, l.scope, l.position, l.id limit 1) is null then
        return cardinality(held);  -- nobody sleeps anywhere
    end if;
    if opened is not null then
        owing := (wake(opened, wants, null)).owing;
        if owing is not null then update gates set wake_at = now where id = any (owing); end if;
    end if;
    if cardinality(held) > coalesce(cardinality(opened), 0) then  -- a slot came free, but time keeps the gate closed
        update gates g set wake_at = gate_opens_at(greatest(g.open_after, g.tripped_until), g.tat, g.interval_us, g.burst, now)
        where g.id = any (held)  -- a breaker that let go leaves a timer behind that is too late for the rate
          and coalesce(g.wake_at, 9223372036854775807) > gate_opens_at(greatest(g.open_after, g.tripped_until), g.tat, g.interval_us, g.burst, now)
          and (select l.id from lanes l where l.status = 'parked' and l.parked_on = g.id order by l.scope, l.position, l.id limit 1) is not null;
    end if;
    return cardinality(held);
end $$;

-- Gates whose timer has come: wake what is allowed, or set the timer anew. Never waits. A rate or breaker that is further
-- ahead of time than it can be (the clock was set back) is brought back, as by Gate.clamp.
create or replace function ring(most int, now bigint) returns void language plpgsql as $$
declare
    gate_ids bigint[]; wants int[]; opens bigint[]; owing bigint[];
begin
    select array_agg(z.id), array_agg(z.n), array_agg(z.opens) into gate_ids, wants, opens from (
        select g.id, least(64, gate_allowance(g, now)) as n,
               gate_opens_at(greatest(g.open_after, least(g.tripped_until, now + g.cooldown_us + 1000000)), g.tat, g.interval_us, g.burst, now) as opens
        from gates g where g.wake_at is not null and g.wake_at <= now order by g.wake_at limit most for no key update skip locked) z;
    if gate_ids is null then return; end if;
    owing := (wake(gate_ids, wants, null)).owing;
    update gates g set wake_at = case when g.id = any (owing) then now + 1000 else d.opens end,
        tat = case when g.tat > now + g.burst * g.interval_us + 1000000 then now + g.burst * g.interval_us else g.tat end,
        tripped_until = case when g.tripped_until > now + g.cooldown_us + 1000000 then now + g.cooldown_us else g.tripped_until end
    from unnest(gate_ids, opens) d(id, opens) where g.id = d.id;
end $$;

-- Delayed tasks whose time has come enter their lanes; those whose lane somebody holds come next time. Never waits.
create or replace function stage_due(most int, now bigint) returns void language plpgsql as $$
declare
    ids bigint[]; held bigint[]; lane_ids bigint[]; ranks bigint[];
begin
    ids := array(select id from tasks where run_at is not null and run_at <= now order by run_at limit most);
    held := array(select l.id from lanes l where l.id = any (array(select t.lane_id from tasks t where t.id = any (ids)))
                  order by l.id for no key update skip locked);
    if cardinality(held) = 0 then return; end if;
    with u as (
        update tasks set due = 1, run_at = null where id = any (ids) and lane_id = any (held) and run_at is not null
        returning lane_id, rank)
    select array_agg(u.lane_id), array_agg(u.rank) into lane_ids, ranks from u;
    if lane_ids is not null then perform make_ready(lane_ids, ranks); end if;
end $$;

-- Settle plain settlements, behind the fence, count their groups, and give back what their tasks held. Returns the numbers of those that were refused.
-- `claims` are given when all of them are done and have nothing to say, which is most turns; else `settlements`, and in `back` the
-- tasks among them that return to waiting.
create or replace function conclude(ids bigint[], claims int[], back bigint[], settlements json, head_start bigint, at bigint)
returns int[] language plpgsql as $$
declare
    n int := cardinality(ids); now bigint; hits int[]; hit_lanes bigint[]; good boolean[]; cancelled int[]; gates int;
    group_ids bigint[]; group_states text[];
begin
    if cardinality(back) > 0 then
        perform 1 from lanes l where l.id = any (array(select t.lane_id from tasks t where t.id = any (back))) order by l.id for no key update;
    end if;
    now := coalesce(at, now_us());
    if cardinality(claims) > 0 then
        with u as (
            update tasks t set state = 'succeeded', finished_at = now, reason = null, error_name = null
            from generate_series(1, n) i
            where t.id = any (ids) and t.id = ids[i] and t.claim = claims[i] and t.state || '' = 'running'
            returning i, t.lane_id, t.group_id)
        select array_agg(u.i), array_agg(u.lane_id), array_agg(true), array_agg(u.group_id) filter (where u.group_id is not null)
            into hits, hit_lanes, good, group_ids from u;
        if group_ids is not null then group_states := array_fill('succeeded'::text, array[cardinality(group_ids)]); end if;
    else
        select * into hits, hit_lanes, good, cancelled, group_ids, group_states from fence(ids, settlements, head_start, now);
    end if;
    if group_ids is not null then
        perform count_groups(group_ids, group_states, array_fill(1::bigint, array[cardinality(group_ids)]), head_start, now);
    end if;
    if hits is not null then gates := release(hit_lanes, good, at); end if;
    if n = cardinality(hits) then return null; end if;
    return array(select i from generate_series(1, n) i where i <> all (coalesce(hits, '{}')));
end $$;

-- The whole turn of a worker: settle as `conclude` does, then claim up to `want` tasks of the scopes in `known`, or of all where that
-- is null. What each row is stands in `what`: the number of
-- a settlement that was refused (s); a task (t); a note that the worker has been given up (l), and then no tasks; or the summary at the
-- end (e), in which `id` is the time of the next timer, `tracking_id` the database's time, and `claim` 1 when another call right now may
-- bring more.
--
-- Works in rounds of as many lanes as it should need, twice as many in each further round that meets closed gates; a round
-- starts behind the last lane seen, because our own locks are not skipped. Lanes are ordered by position across all scopes. A lane is parked only while all its gates are
-- held: otherwise it might carry the baton of a gate that we cannot see.
create or replace function turn(ids bigint[], claims int[], back bigint[], settlements json, head_start bigint, want int, worker bigint,
                                quantum int, at bigint, known bigint[])
returns table (what "char", id bigint, claim int, kind text, stage text, payload text, checkpoint text, url text,
               tracking_id bigint, parent_id bigint, depth int, failures int, crashes int, lane_key text)
language plpgsql as $$
#variable_conflict use_column
declare
    now bigint; refused int[];
    left_over int := want; turns int; open_first boolean; rounds int := 0; more boolean := false; busy boolean := false;
    last_position bigint := -9223372036854775808; last_id bigint := 0; lim int; q int;
    scopes bigint[]; heads bigint[]; seen int; whose bigint[];
    lane_ids bigint[]; positions bigint[]; gated boolean;
    g_ids bigint[]; g_left int[]; g_opens bigint[]; g_used int[]; g_seen int[]; g_parked int[];
    x_ids bigint[]; x_status text[]; x_parked bigint[]; x_position bigint[]; x_served bigint[]; x_floor bigint[];
    taken bigint[]; taken_keys text[]; owing bigint[]; opened bigint[]; wants int[];
    lost boolean; ringing boolean; staging boolean;
    lane record; place int; closed int; n int; m int;
begin
    if cardinality(ids) > 0 then
        refused := conclude(ids, claims, back, settlements, head_start, at);
        if refused is not null then
            return query select 's'::"char", s::bigint, null::int, null::text, null::text, null::text, null::text, null::text,
                null::bigint, null::bigint, null::int, null::int, null::int, null::text from unnest(refused) s;
        end if;
    end if;
    if want <= 0 then return; end if;
    now := coalesce(at, now_us());
    select (select w.lost_at from workers w where w.id = worker) is not null,
           (select g.wake_at from gates g where g.wake_at is not null order by g.wake_at limit 1) <= now,
           (select t.run_at from tasks t where t.run_at is not null order by t.run_at limit 1) <= now
        into lost, ringing, staging;
    if lost then
        return query select 'l'::"char", null::bigint, null::int, null::text, null::text, null::text, null::text, null::text,
            null::bigint, null::bigint, null::int, null::int, null::int, null::text;
        return;
    end if;
    if ringing then perform ring(64, now); end if;
    if staging then perform stage_due(200, now); end if;
    select r.scopes, r.open_first into scopes, open_first from ready_scopes(known) r;
    while left_over > 0 and rounds < 8 and scopes is not null loop
        rounds := rounds + 1;
        -- Lanes without gates take long turns, so few of them are needed; locking more would leave none for the next claim.
        turns := case when open_first then quantum * 32 else quantum end;
        lim := least(256, ((left_over + turns - 1) / turns) << (rounds - 1));
        if cardinality(scopes) = 1 then
            select array_agg(z.id), array_agg(z.position), bool_or(z.gated) into lane_ids, positions, gated from (
                select l.id, l.position, cardinality(l.gates) > 0 as gated from lanes l
                where l.status = 'ready' and l.scope = scopes[1] and (l.position, l.id) > (last_position, last_id)
                order by l.position, l.id limit lim for no key update skip locked) z;
            exit when lane_ids is null;
            last_position := positions[cardinality(positions)]; last_id := lane_ids[cardinality(lane_ids)]; seen := cardinality(lane_ids);
        else
            -- Found first and locked then: a lock inside would hold as many lanes of each scope as are needed of all together.
            select array_agg(c.id), array_agg(c.position) into heads, positions from (
                select x.id, x.position from unnest(scopes) s(scope) cross join lateral (
                    select l.id, l.position from lanes l
                    where l.status = 'ready' and l.scope = s.scope and (l.position, l.id) > (last_position, last_id)
                    order by l.position, l.id limit lim) x
                order by x.position, x.id limit lim) c;
            exit when heads is null;
            seen := cardinality(heads); last_position := positions[seen]; last_id := heads[seen];
            select array_agg(z.id), array_agg(z.position), bool_or(z.gated) into lane_ids, positions, gated from (
                select l.id, l.position, cardinality(l.gates) > 0 as gated from lanes l
                where l.id = any (heads) and l.status || '' = 'ready' order by l.position, l.id for no key update skip locked) z;
            if lane_ids is null then  -- all of them are in other hands
                busy := true;
                exit when seen < lim;
                continue;
            end if;
        end if;
        -- Fewer lanes than turns: let each take more, or one busy lane would get a quantum a call.
        q := case when seen < lim then greatest(quantum, (left_over + cardinality(lane_ids) - 1) / cardinality(lane_ids)) else quantum end;
        now := coalesce(at, now_us());
        g_ids := '{}'; owing := null; taken := '{}'; taken_keys := '{}';
        x_ids := '{}'; x_status := '{}'; x_parked := '{}'; x_position := '{}'; x_served := '{}'; x_floor := '{}';
        if gated then
            select coalesce(array_agg(z.id), '{}'), array_agg(z.n), array_agg(z.opens), array_agg(0), array_agg(0), array_agg(0)
                into g_ids, g_left, g_opens, g_used, g_seen, g_parked from (
                select g.id, gate_allowance(g, now) as n,
                       gate_opens_at(greatest(g.open_after, g.tripped_until), g.tat, g.interval_us, g.burst, now) as opens
                from gates g where g.id = any (array(select distinct x.g from lanes l, unnest(l.gates) x(g) where l.id = any (lane_ids)))
                for no key update skip locked) z;
            -- Read again: a slot may have come back between the last reading and the lock, and nobody starts before it did.
            now := coalesce(at, now_us());
        end if;
        -- A new statement, so a new snapshot: it sees every task committed before the lane lock was ours.
        for lane in
            select l.id, positions[i] as position, l.key, array(select array_position(g_ids, g) from unnest(l.gates) g) as places, h.ids, h.ranks
            from generate_series(1, cardinality(lane_ids)) i join lanes l on l.id = lane_ids[i] and l.id = any (lane_ids)
            cross join lateral (
                select array_agg(t.id) as ids, array_agg(t.rank) as ranks from (
                    select t.id, t.rank from tasks t where t.lane_id = l.id and t.due = 1 and t.rank >= l.floor
                    order by t.rank, t.id limit q * case when cardinality(l.gates) = 0 then 32 else 1 end + 1) t) h
            order by i
        loop
            exit when left_over = 0;  -- lanes not visited stay as they are
            if array_position(lane.places, null) is not null then busy := true; continue; end if;
            n := coalesce(cardinality(lane.ids), 0); closed := null;
            m := least(n, q * case when cardinality(lane.places) = 0 then 32 else 1 end, left_over);
            foreach place in array lane.places loop
                if g_left[place] <= 0 and (closed is null or coalesce(g_opens[place], 0) > coalesce(g_opens[closed], 0)) then
                    closed := place;
                end if;
                m := least(m, g_left[place]);
            end loop;
            if n > 0 and closed is null then
                taken := taken || lane.ids[1:m];
                taken_keys := taken_keys || array_fill(lane.key, array[m]);
                left_over := left_over - m;
                foreach place in array lane.places loop
                    g_left[place] := g_left[place] - m; g_used[place] := g_used[place] + m;
                    if g_left[place] <= 0 then closed := place; end if;
                end loop;
            end if;
            x_ids := x_ids || lane.id; x_floor := x_floor || case when m > 0 then lane.ranks[m] end;
            foreach place in array lane.places loop g_seen[place] := g_seen[place] + 1; end loop;
            if m = n then
                x_status := x_status || 'idle'::text; x_parked := x_parked || null::bigint;
                x_position := x_position || lane.position; x_served := x_served || case when m > 0 then now else 0 end;
            elsif closed is not null then
                x_status := x_status || 'parked'::text; x_parked := x_parked || g_ids[closed]; g_parked[closed] := g_parked[closed] + 1;
                x_position := x_position || case when m > 0 then now else lane.position end;
                x_served := x_served || case when m > 0 then now else 0 end;
            else
                x_status := x_status || 'ready'::text; x_parked := x_parked || null::bigint;
                x_position := x_position || greatest(lane.ranks[m + 1], now); x_served := x_served || now;
                more := true;
            end if;
        end loop;
        if cardinality(taken) > 0 then
            return query
                with u as (
                    update tasks t set state = 'running', due = 0, claim = t.claim + 1, worker_id = worker, started_at = now
                    from generate_series(1, cardinality(taken)) i
                    where t.id = any (taken) and t.id = taken[i] and t.due + 0 = 1
                    returning t.id, t.claim, t.kind, t.stage, t.payload, t.checkpoint, t.url, t.tracking_id, t.parent_id, t.depth,
                              t.failures, t.crashes, i)
                select 't'::"char", u.id, u.claim, u.kind, u.stage, u.payload, u.checkpoint, u.url, u.tracking_id, u.parent_id, u.depth,
                       u.failures, u.crashes, taken_keys[u.i] from u order by u.i;
            get diagnostics n = row_count;
            if n <> cardinality(taken) then
                raise exception 'a due task moved although its lane was held' using errcode = 'serialization_failure';
            end if;
        end if;
        if cardinality(x_ids) > 0 then
            update lanes l set status = x_status[i], parked_on = x_parked[i], position = x_position[i],
                served_at = greatest(l.served_at, x_served[i]), floor = coalesce(x_floor[i], l.floor)
            from generate_series(1, cardinality(x_ids)) i where l.id = x_ids[i] and l.id = any (x_ids);
        end if;
        if cardinality(g_ids) > 0 then
            -- The baton: each lane that was visited wakes another one from each of its gates that is still open.
            if (select l.id from lanes l where l.status = 'parked' order by l.parked_on, l.scope, l.position, l.id limit 1) is not null then
                if cardinality(scopes) = 1 then
                    select array_agg(b.id), array_agg(least(b.n, b.seen)), array_agg(scopes[1]) into opened, wants, whose
                        from unnest(g_ids, g_left, g_seen) b(id, n, seen) where b.n > 0 and b.seen > 0;
                else
                    select array_agg(b.id), array_agg(least(b.n, b.seen)), array_agg(b.scope) into opened, wants, whose from (
                        select g.id, l.scope, g_left[array_position(g_ids, g.id)] as n, count(*)::int as seen
                        from lanes l cross join unnest(l.gates) g(id) where l.id = any (x_ids) group by g.id, l.scope) b
                        where b.n > 0;
                end if;
                if opened is not null then
                    select w.owing, w.woken into owing, n from wake(opened, wants, whose) w;
                    more := more or n > 0;
                end if;
            end if;
            update gates g set
                in_flight     = g.in_flight + case when g.max_in_flight is null then 0 else g_used[i] end,
                tat           = case when g.interval_us > 0 and g_used[i] > 0
                                     then now + gate_ahead(g.tat, g.interval_us, g.burst, now) + g_used[i] * g.interval_us else g.tat end,
                tripped_until = case when g_used[i] > 0 and g.failures >= g.trip_after then now + g.cooldown_us else g.tripped_until end,
                wake_at       = case
                    when g.id = any (owing) then now + 1000
                    when g_left[i] > 0 or (g_parked[i] = 0 and (select l.id from lanes l where l.status = 'parked' and l.parked_on = g.id
                                                       order by l.scope, l.position, l.id limit 1) is null) then g.wake_at
                    else coalesce(gate_opens_at(
                        greatest(g.open_after, case when g_used[i] > 0 and g.failures >= g.trip_after then now + g.cooldown_us else g.tripped_until end),
                        case when g_used[i] > 0 then now + gate_ahead(g.tat, g.interval_us, g.burst, now) + g_used[i] * g.interval_us else g.tat end,
                        g.interval_us, g.burst, now),
                        -- Closed when it was looked at, and not any more by the time that is written: it rings at once. But for slots
                        -- no timer is needed, a settlement wakes.
                        case when g.max_in_flight is null or g.in_flight + g_used[i] < g.max_in_flight then now else g.wake_at end) end
            from generate_series(1, cardinality(g_ids)) i
            where g.id = g_ids[i] and g.id = any (g_ids) and (g_used[i] > 0 or g_parked[i] > 0 or g.id = any (owing)
                -- Closed by time, and no timer: it rang for somebody whose clock was a moment ahead of ours.
                or (g_opens[i] is not null and g.wake_at is null));
        end if;
        exit when seen < lim;
        if left_over > 0 then
            open_first := (select x.open from unnest(scopes) s(scope) cross join lateral (
                select l.position, l.id, cardinality(l.gates) = 0 as open from lanes l
                where l.status = 'ready' and l.scope = s.scope and (l.position, l.id) > (last_position, last_id)
                order by l.position, l.id limit 1) x order by x.position, x.id limit 1);
        end if;
    end loop;
    more := more or busy or left_over <= 0;
    if not more then more := (ready_scopes(known)).scopes is not null; end if;
    return query select 'e'::"char",
        least((select wake_at from gates where wake_at is not null order by wake_at limit 1),
              (select run_at from tasks where run_at is not null order by run_at limit 1)),
        more::int,
        null::text, null::text, null::text, null::text, null::text, now, null::bigint, null::int, null::int, null::int, null::text;
end $$;

-- The invariant that every committed state must keep: whoever is parked on a gate will be woken, because the gate's slots
-- are taken (a settlement wakes), or it has a timer, or a ready lane of the same scope carries it (a claim hands the baton on).
create or replace view stranded as
    select g.id, g.name, p.scope, p.lanes from gates g
    join (select l.parked_on, l.scope, count(*) as lanes from lanes l where l.status = 'parked' group by l.parked_on, l.scope) p
        on p.parked_on = g.id
    where not (g.max_in_flight is not null and g.in_flight >= g.max_in_flight)
      and g.wake_at is null
      and not exists (select 1 from lanes l where l.status = 'ready' and l.scope = p.scope and g.id = any (l.gates));
