-- The configurations whose users and sets were applied, by digest; the one with the highest number counts.
DROP TABLE applied_config;
CREATE TABLE applied_configurations (
  digest TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  number BIGINT NOT NULL UNIQUE,
  applied BIGINT NOT NULL
);

-- digest: of the password hash that the configuration set last; a sign-in may have replaced the hash since.
CREATE TABLE configured_passwords (
  user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  digest TEXT COLLATE "C" NOT NULL
);

CREATE INDEX users_managed ON users (managed) WHERE managed = 1;
