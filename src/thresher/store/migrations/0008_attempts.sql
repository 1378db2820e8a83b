-- The last attempt of a task that ended by it stands in the task's own row already: writing it a second time was a sixth of
-- the work of settling. So a row is written only for an attempt that its task does not tell of, and everybody reads the view.

alter table attempts rename to other_attempts;
create view attempts as
    select task_id, claim, stage, worker_id, started_at, ended_at, ending, reason, error_name from other_attempts
    union all
    select t.id, t.claim, t.stage, t.worker_id, t.started_at, t.finished_at, case t.state when 'succeeded' then 'done' else t.state end,
        t.reason, t.error_name
    from tasks t
    where t.state in ({told})
        and not exists (select 1 from other_attempts o where o.task_id = t.id and o.claim = t.claim);

-- Five checks a row were half the cost of changing a task: SQLite makes a small table of each list of states for every row that it
-- checks, PostgreSQL reads their text anew for every statement. One that says it all takes their place; on SQLite in the way that its
-- manual has for a change that touches no row.
{sqlite}pragma writable_schema = on;
{sqlite}update sqlite_schema set sql = rtrim(substr(sql, 1, instr(sql, ' check (state in') - 1)
{sqlite}    || substr(sql, instr(sql, ')),') + 2, instr(sql, 'check (due') - instr(sql, ')),') - 2), ', ' || char(10))
{sqlite}    || ', constraint tasks_sound check (case when finished_at is not null
{sqlite}        then due = 0 and run_at is null and instr('' {terminal_words} '', '' '' || state || '' '') > 0
{sqlite}        when due = 1 then run_at is null and state in ({waiting_inside})
{sqlite}        when run_at is not null then due = 0 and state in ({waiting_inside})
{sqlite}        else due = 0 and state = ''running'' and worker_id is not null end))'
{sqlite}    where type = 'table' and name = 'tasks';
{sqlite}pragma writable_schema = reset;
{postgres}alter table tasks drop constraint tasks_state_check;
{postgres}alter table tasks drop constraint tasks_check;
{postgres}alter table tasks drop constraint tasks_check1;
{postgres}alter table tasks drop constraint tasks_check2;
{postgres}alter table tasks drop constraint tasks_check3;
{postgres}alter table tasks add constraint tasks_sound check (
{postgres}    num_nonnulls(finished_at, run_at, nullif(due, 0)) <= 1
{postgres}    and state = any (case when finished_at is not null then array[{terminal}] when run_at is not null or due = 1 then array[{waiting}]
{postgres}        when worker_id is not null then array['running'] else array[]::text[] end));
{postgres}alter table lanes drop constraint lanes_status_check;
{postgres}alter table lanes drop constraint lanes_check;
{postgres}alter table lanes add constraint lanes_sound check (
{postgres}    case when parked_on is null then status in ('idle', 'ready') else status = 'parked' end);
