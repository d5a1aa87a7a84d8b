-- Who signed in, as the identity provider says it, and the ID token if it is kept: encrypted. Sessions from before have
-- none of it. A provider ends sessions by its own session id, or by subject.
ALTER TABLE sessions ADD COLUMN provider_issuer TEXT;
ALTER TABLE sessions ADD COLUMN provider_subject TEXT;
ALTER TABLE sessions ADD COLUMN provider_sid TEXT;
ALTER TABLE sessions ADD COLUMN id_token TEXT;
CREATE INDEX sessions_by_provider_sid ON sessions (provider_sid, provider_issuer) WHERE provider_sid IS NOT NULL;
CREATE INDEX sessions_by_provider_subject ON sessions (provider_subject, provider_issuer)
  WHERE provider_subject IS NOT NULL;
