-- Linearizable reads of one random key of BENCH_COUNT over etcd's JSON gateway.
package.path = debug.getinfo(1, "S").source:match("^@(.*/)") .. "?.lua"
local base64 = require("base64")
local count = tonumber(os.getenv("BENCH_COUNT"))
function init() math.randomseed(7919) end
function request()
  local body = '{"key":"' .. base64("d/" .. math.random(0, count - 1)) .. '"}'
  return "POST /v3/kv/range HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end
