-- KEYS[1]: what was used, and can be used again.
redis.call('DEL', KEYS[1])
return {'released', now}
