-- Puts the document of put.lua over etcd's JSON gateway, under growing keys after BENCH_FIRST.
package.path = debug.getinfo(1, "S").source:match("^@(.*/)") .. "?.lua"
local base64 = require("base64")
local value = base64('{"name":"Ada Lovelace","age":36,"city":"London","joined":"2026-11-21T10:00:00","score":0.123456,"token":"0123456789abcdef","@metadata":{"@collection":"Users"}}')
local number
function init() number = 100000000 + (tonumber(os.getenv("BENCH_FIRST") or "0")) end
function request()
  number = number + 1
  local body = '{"key":"' .. base64("p/" .. number) .. '","value":"' .. value .. '"}'
  return "POST /v3/kv/put HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end
