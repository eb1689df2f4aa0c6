-- PUTs of different 150-byte documents to BENCH_PATH followed by growing numbers after BENCH_FIRST.
local path = os.getenv("BENCH_PATH")
-- Each thread has a seed of its own.
local seeded = 0
function setup(thread) seeded = seeded + 1; thread:set("seed", seeded) end
local number = 0
function init() math.randomseed(seed * 104729); number = seed * 100000000 + (tonumber(os.getenv("BENCH_FIRST") or "0")) end
function request()
  number = number + 1
  local body = '{"name":"Ada Lovelace ' .. number % 100000 .. '","age":' .. number % 90 .. ',"city":"London","joined":"2026-11-21T10:00:00","score":0.123456,"token":"0123456789abcdef","@metadata":{"@collection":"Users"}}'
  return "PUT " .. path .. number .. " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end
