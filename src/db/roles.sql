-- Roles and what they may do in this database. Run by the login user of the database before each migration; changes only
-- what is not yet so, since roles belong to the whole server and another database of Certo may be using them.
do $$
declare
  r text;
  can_become constant text := case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end;
begin
  foreach r in array array['certo_owner', 'certo_app'] loop
    if not exists (select from pg_roles where rolname = r) then
      begin
        execute format('create role %I nologin', r);
      exception when duplicate_object or unique_violation then
        null; -- somebody else's migration was faster
      end;
    end if;
    if not pg_has_role(current_user, r, can_become) then
      execute format('grant %I to current_user', r);
    end if;
  end loop;

  if exists (select from pg_roles where rolname = 'certo_app' and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb)) then
    raise exception 'role certo_app has powers that defeat row-level security; take them away first';
  end if;
  if pg_has_role('certo_app', 'certo_owner', 'MEMBER') then
    raise exception 'role certo_app is a member of certo_owner; revoke that first';
  end if;

  if not has_database_privilege('certo_owner', current_database(), 'CREATE') then
    execute format('grant create, temporary on database %I to certo_owner', current_database());
  end if;
  if not has_database_privilege('certo_owner', current_database(), 'CREATE') then
    raise exception 'only the owner of database % can prepare it: connect as its owner, or let the owner run ALTER DATABASE % OWNER TO %',
      current_database(), quote_ident(current_database()), quote_ident(current_user);
  end if;
  -- The service makes no tables, temporary ones neither.
  if has_database_privilege('certo_app', current_database(), 'TEMPORARY') then
    execute format('revoke temporary, create on database %I from public', current_database());
  end if;
  -- Databases that came from before PostgreSQL 15 let everybody create in public.
  if exists (select from pg_namespace where nspname = 'public') and has_schema_privilege('certo_app', 'public', 'CREATE') then
    begin
      revoke create on schema public from public;
    exception when insufficient_privilege then
      raise exception 'everybody may create tables in schema public; its owner must run: revoke create on schema public from public';
    end;
  end if;
end $$;
