-- What a call of a model was for, kept as long as the call: tasks are removed much earlier.
alter table spendings add column kind text;     -- of the task; null: a call on nobody's behalf, or of a task that is gone
alter table spendings add column subject text;  -- what the app says its task is about; null: it says nothing
update spendings set kind = (select t.kind from tasks t where t.id = spendings.task_id) where task_id is not null;
