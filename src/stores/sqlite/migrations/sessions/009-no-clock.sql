-- What has ended is deleted a day later by any clock: no confirmed time is kept.
DROP TABLE clock;
