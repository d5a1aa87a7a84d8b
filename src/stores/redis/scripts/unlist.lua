-- Removes a session that has ended from all lists. KEYS: as for listing it. ARGV[3]: session id; 4: for how long, in ms, it
-- must not be listed again: a refresh of another gateway may still be about to.
redis.call('HDEL', KEYS[1], ARGV[3])
for index = 3, 11 do redis.call('ZREM', KEYS[index], ARGV[3]) end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[4])
return {'unlisted', now, redis.call('ZCARD', KEYS[10])}
