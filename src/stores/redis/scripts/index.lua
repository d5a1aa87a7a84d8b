-- Adds a session to its user's index. KEYS[1]: the index, sessions scored by the instant until which it lists them.
-- ARGV[3]: session id; 4: for how long from now.
local listed_until = now + ARGV[4]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now))
redis.call('ZADD', KEYS[1], whole(listed_until), ARGV[3])
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], whole(last[2] - ahead))
return {'indexed', now, listed_until}
