-- KEYS[1]: the value that is used. ARGV[3]: until when it has to be kept.
local remaining = ARGV[3] - now
if remaining <= 0 then return {'used', now} end
local first = redis.call('SET', KEYS[1], '1', 'NX', 'PX', whole(math.ceil(remaining)))
return {first and 'first' or 'used', now}
