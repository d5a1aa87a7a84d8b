-- Who a user is at identity providers, and what each of them grants as of the last sign-in. The account is the pair of
-- issuer and subject, never a name or an e-mail address.

CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
  -- 1: the first sign-in made the user, whose profile is the provider's then; 0: linked to one there was.
  made_user INTEGER NOT NULL,
  scopes TEXT NOT NULL,
  created INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_by_user ON identities (user_id);

CREATE TABLE identity_scope_sets (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  set_id TEXT NOT NULL,
  PRIMARY KEY (issuer, subject, set_id),
  FOREIGN KEY (issuer, subject) REFERENCES identities ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX identity_scope_sets_by_set ON identity_scope_sets (set_id);

CREATE VIEW held_scope_sets AS
  SELECT user_id, set_id FROM user_scope_sets
  UNION
  SELECT i.user_id, s.set_id FROM identities i JOIN identity_scope_sets s USING (issuer, subject);
