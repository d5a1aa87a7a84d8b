-- Every writer locks this row first. Without it, a write that is under way could wait for a table that is locked here,
-- and hold one that is locked here next.
SELECT FROM store_state WHERE id = 1 FOR UPDATE;

-- The sign-in at an identity provider that a key comes of: issuer, subject and the provider's name, a JSON array. Null: of
-- none, or from before this was kept, and what providers grant its owner doesn't count for the key.
ALTER TABLE api_keys ADD COLUMN origin TEXT COLLATE "C";

-- The name of the provider that gave the scopes and sets; null: from before this was kept.
ALTER TABLE identities ADD COLUMN provider TEXT COLLATE "C";
