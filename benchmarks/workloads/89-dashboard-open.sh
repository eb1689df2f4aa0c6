# shellcheck shell=bash
# the dashboard: time to live figures with the processor slowed six times, what an open page costs the server, and PUT at 64 connections with and without one
if [[ -x /usr/bin/chromium ]]; then
  [[ -d $ROOT/server/tests/browser/node_modules ]] || npm --prefix "$ROOT/server/tests/browser" ci --no-audit --no-fund --loglevel=error >&2
  start_rookery "$WORK/dashboard"
  create_database bench
  # Wait until the runtime has compiled the frequent methods again.
  sleep 90
  open_page() { launch "$WORK/page.log" node "$ROOT/benchmarks/dashboard-open.mjs" "http://127.0.0.1:$PORT" stay; PAGE=$LAUNCHED; wait_until 60 grep -q open "$WORK/page.log"; }
  close_page() { kill "$PAGE"; wait "$PAGE" 2>/dev/null || true; }
  share_of_core() { # SECONDS: prints the node's CPU use in percent
    local before; before=$(cpu_seconds "$ROOKERY_PID")
    sleep "$1"
    awk -v a="$before" -v b="$(cpu_seconds "$ROOKERY_PID")" -v s="$1" 'BEGIN { printf "%.2f", 100 * (b - a) / s }'
  }
  node "$ROOT/benchmarks/dashboard-open.mjs" "http://127.0.0.1:$PORT" open 9 >"$WORK/open.ms"
  row dashboard-open "median of 9, processor slowed 6 times" "first figures, ms" "$(median <"$WORK/open.ms")"
  row dashboard-open "longest of 9" "first figures, ms" "$(sort -n "$WORK/open.ms" | tail -n 1)"
  idle=$(share_of_core 30)
  open_page
  sleep 10
  row dashboard-open "30 s, no page" "server, % of a core" "$idle"
  row dashboard-open "30 s, a page open for 10 s" "server, % of a core" "$(share_of_core 30)"
  # The runtime compiles methods again after 30 calls and after 30 more. Here many methods run once a second.
  sleep 80
  row dashboard-open "30 s, a page open for 2 minutes" "server, % of a core" "$(share_of_core 30)"
  close_page
  export BENCH_COUNT=0 BENCH_PATH="/databases/bench/docs?id=p/"
  first=0
  put_round() { # ROUND TITLE
    local before rate
    first=$((first + 10000000))
    export BENCH_FIRST=$first
    before=$(cpu_seconds "$ROOKERY_PID")
    rate=$(wrk_rate put.lua 64 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
    row dashboard-open "PUT, round $1, $2" "writes/s" "$rate"
    row dashboard-open "PUT, round $1, $2" "server CPU s per 1000 writes" "$(awk -v a="$before" -v b="$(cpu_seconds "$ROOKERY_PID")" -v r="$rate" -v s="$SECONDS_PER_RUN" 'BEGIN { printf "%.5f", (b - a) * 1000 / (r * s) }')"
  }
  # curl reads the stream, because a browser on the same two cores would distort the measurement.
  for round in $(seq "$ROUNDS"); do
    put_round "$round" "no stream"
    launch "$WORK/stream.log" curl -sN "http://127.0.0.1:$PORT/dashboard/live"
    put_round "$round" "a stream read"
    kill "$LAUNCHED"
  done
else
  say "dashboard-open needs Debian's chromium: apt-get install chromium"
fi
