-- How many sessions are listed. KEYS[1]: see due.lua.
return {'counted', now, redis.call('ZCARD', KEYS[1])}
