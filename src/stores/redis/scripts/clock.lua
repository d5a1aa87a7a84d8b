-- Prepended to every script. ARGV[1]: the deadline by this clock, after which the caller no longer waits and the script does
-- nothing. ARGV[2]: the current time to assume (tests); empty: the server's.
local time = redis.call('TIME')
local server_now = time[1] * 1000 + math.floor(time[2] / 1000)
local now = tonumber(ARGV[2]) or server_now
local ahead = now - server_now
if now > tonumber(ARGV[1]) then return {'expired', now} end

local function whole(number) return string.format('%.0f', number) end
