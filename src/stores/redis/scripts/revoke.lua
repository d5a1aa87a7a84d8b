-- KEYS[1]: the session. ARGV[3]: channel of ended sessions; 4: session id. Notified even when there is no session: another
-- process may have cached one that the store has lost.
local fields = redis.call('HGETALL', KEYS[1])
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[3], ARGV[4] .. ' ' .. whole(now))
return {'revoked', now, fields}
