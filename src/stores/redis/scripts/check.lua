-- Has sessions checked before anything is counted or listed: whether they still exist. KEYS[1]: the listed sessions by
-- expiry. ARGV[3…]: session ids.
for index = 3, #ARGV do redis.call('ZADD', KEYS[1], 'XX', '0', ARGV[index]) end
return {'marked', now}
