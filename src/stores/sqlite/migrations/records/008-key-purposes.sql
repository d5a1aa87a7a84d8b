-- What a key is for, and where it stands: published (neither instant), signing (signs_from), retired. requested: since when
-- the next one is wanted ahead of time. lifetime: how long what it signs may be valid, in ms.
ALTER TABLE signing_keys ADD COLUMN purpose TEXT NOT NULL DEFAULT 'access-token';
ALTER TABLE signing_keys ADD COLUMN signs_from INTEGER;
ALTER TABLE signing_keys ADD COLUMN retired INTEGER;
ALTER TABLE signing_keys ADD COLUMN requested INTEGER;
ALTER TABLE signing_keys ADD COLUMN lifetime INTEGER NOT NULL DEFAULT 0;

UPDATE signing_keys SET signs_from = created;
