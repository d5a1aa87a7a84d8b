-- The claims of the provider's ID token that the session keeps: encrypted. Sessions from before have none.
ALTER TABLE sessions ADD COLUMN claims TEXT;
