-- Every prefix that an API key ever had, those of deleted keys included: a text with one may be a key of this tenant.
CREATE TABLE api_key_prefixes (
  prefix TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

INSERT INTO api_key_prefixes (prefix) SELECT DISTINCT substr(hint, 1, instr(hint, '_') - 1) FROM api_keys;

-- By a trigger, because a gateway of an earlier version may go on minting keys.
CREATE TRIGGER keep_key_prefix AFTER INSERT ON api_keys
BEGIN
  INSERT INTO api_key_prefixes (prefix) VALUES (substr(NEW.hint, 1, instr(NEW.hint, '_') - 1)) ON CONFLICT DO NOTHING;
END;
