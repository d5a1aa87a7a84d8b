-- Who a user is at identity providers, and what each of them grants as of the last sign-in. The account is the pair of
-- issuer and subject, never a name or an e-mail address.

CREATE TABLE identities (
  issuer TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  -- 1: the first sign-in made the user, whose profile is the provider's then; 0: linked to one there was.
  made_user INTEGER NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_by_user ON identities (user_id);

CREATE TABLE identity_scope_sets (
  issuer TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  set_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (issuer, subject, set_id),
  FOREIGN KEY (issuer, subject) REFERENCES identities ON DELETE CASCADE
);

CREATE INDEX identity_scope_sets_by_set ON identity_scope_sets (set_id);

CREATE VIEW held_scope_sets AS
  SELECT user_id, set_id FROM user_scope_sets
  UNION
  SELECT i.user_id, s.set_id FROM identities i JOIN identity_scope_sets s USING (issuer, subject);
