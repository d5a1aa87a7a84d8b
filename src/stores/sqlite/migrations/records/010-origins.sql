-- The sign-in at an identity provider that a key comes of: issuer, subject and the provider's name, a JSON array. Null: of
-- none, or from before this was kept, and what providers grant its owner doesn't count for the key.
ALTER TABLE api_keys ADD COLUMN origin TEXT;

-- The name of the provider that gave the scopes and sets; null: from before this was kept.
ALTER TABLE identities ADD COLUMN provider TEXT;
