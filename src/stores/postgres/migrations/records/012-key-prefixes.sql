-- Every writer locks this row first. Without it, a write that is under way could wait for a table that is locked here,
-- and hold one that is locked here next.
SELECT FROM store_state WHERE id = 1 FOR UPDATE;

-- Every prefix that an API key ever had, those of deleted keys included: a text with one may be a key of this tenant.
CREATE TABLE api_key_prefixes (
  prefix TEXT COLLATE "C" NOT NULL PRIMARY KEY
);

-- By a trigger, because a gateway of an earlier version may go on minting keys; as the owner of the schema, by the name that
-- the schema has by now.
CREATE FUNCTION keep_key_prefixes() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  minted_prefix text;
BEGIN
  FOR minted_prefix IN SELECT DISTINCT split_part(hint, '_', 1) FROM inserted LOOP
    EXECUTE format('INSERT INTO %I.api_key_prefixes (prefix) VALUES ($1) ON CONFLICT DO NOTHING', TG_TABLE_SCHEMA)
      USING minted_prefix;
  END LOOP;
  RETURN NULL;
END $$;

CREATE TRIGGER keep_prefixes AFTER INSERT ON api_keys REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION keep_key_prefixes();

-- The table of keys is locked by now: no key comes until the commit.
INSERT INTO api_key_prefixes (prefix) SELECT DISTINCT split_part(hint, '_', 1) FROM api_keys;
