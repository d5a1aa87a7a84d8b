-- KEYS[1]: the value that was used, and can be used again.
redis.call('DEL', KEYS[1])
return {'released', now}
