-- How many rows a table has, at any moment: to count them would take longer than to read a page of a list.
CREATE TABLE row_counts (
  table_name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  total BIGINT NOT NULL
);

-- As the owner of the schema, so that another role that only serves can go on until it has rights on the new table; by
-- the name that the schema has by now.
CREATE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  EXECUTE format('UPDATE %I.row_counts SET total = total + $1 WHERE table_name = $2', TG_TABLE_SCHEMA)
    USING (SELECT CASE TG_OP WHEN 'DELETE' THEN -count(*) ELSE count(*) END FROM changed), TG_TABLE_NAME;
  RETURN NULL;
END $$;

CREATE FUNCTION count_no_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  EXECUTE format('UPDATE %I.row_counts SET total = 0 WHERE table_name = $1', TG_TABLE_SCHEMA) USING TG_TABLE_NAME;
  RETURN NULL;
END $$;

-- Every writer locks this row first. Without it, a write that is under way could wait for a table that is locked here,
-- and hold one that is locked here next.
SELECT FROM store_state WHERE id = 1 FOR UPDATE;

CREATE TRIGGER count_inserted AFTER INSERT ON users REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_deleted AFTER DELETE ON users REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION count_no_rows();

CREATE TRIGGER count_inserted AFTER INSERT ON api_keys REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_deleted AFTER DELETE ON api_keys REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION count_no_rows();

CREATE TRIGGER count_inserted AFTER INSERT ON audit REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_deleted AFTER DELETE ON audit REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION count_no_rows();

-- The tables are locked by now: no row comes or goes until the commit.
INSERT INTO row_counts (table_name, total)
  SELECT 'users', count(*) FROM users UNION ALL
  SELECT 'api_keys', count(*) FROM api_keys UNION ALL
  SELECT 'audit', count(*) FROM audit;
