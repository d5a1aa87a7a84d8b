-- KEYS[1]: the session. ARGV[3]: channel of endings; 4: session id. Told even when there is none: another process may
-- remember one that the store has lost.
local fields = redis.call('HGETALL', KEYS[1])
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[3], ARGV[4] .. ' ' .. whole(now))
return {'revoked', now, fields}
