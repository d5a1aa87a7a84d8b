-- The session that minted a key; null where a key or the command line did, and for keys from before.
ALTER TABLE api_keys ADD COLUMN session TEXT COLLATE "C";

-- Which of the provider's grants gave the scopes and sets, by claim and value: a JSON array. Null: from before this was
-- kept.
ALTER TABLE identities ADD COLUMN grants TEXT COLLATE "C";

-- Deleted keys that others were minted with: through them the others are still found as descendants.
CREATE TABLE removed_api_keys (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  parent TEXT COLLATE "C"
);

CREATE INDEX removed_api_keys_by_parent ON removed_api_keys (parent) WHERE parent IS NOT NULL;
