-- The configurations whose users and sets were applied, by digest; the one with the highest number counts.
DROP TABLE applied_config;
CREATE TABLE applied_configurations (
  digest TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL UNIQUE,
  applied INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- digest: of the password hash that the configuration set last; a sign-in may have replaced the hash since.
CREATE TABLE configured_passwords (
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX users_managed ON users (managed) WHERE managed = 1;
