-- What the press needs: a group of documents is written and its claims are completed in one batch with COMMIT.

set local role certo_owner;
set local search_path = certo, public;

-- Stops the COMMIT behind it: the lease of a claim was over, or somebody else holds the key.
create function claim_lost() returns boolean language plpgsql as $$
begin
  raise exception 'the claim is not ours any more' using errcode = 'CE002';
end $$;
grant execute on function claim_lost() to certo_app;
