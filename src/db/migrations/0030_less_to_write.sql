set local role certo_owner;
set local search_path = certo, public;

-- What a draft says goes into the table of long values when the draft is made, rather than when it is issued: with what issuing
-- adds to its row, the row would become too long, and be taken apart then (docs/decisions/0071-less-to-write.md).
alter table documents set (toast_tuple_target = 1800);
