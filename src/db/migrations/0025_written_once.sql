-- What a draft says is written when it is made, and left alone when it is issued: out of line, it is not even copied then.
-- A recorded answer has no pictures any more (engine/folded.ts) and stays in its page.

set local role certo_owner;
set local search_path = certo, public;

alter table documents reset (toast_tuple_target);
alter table claims set (toast_tuple_target = 8160);
