# shellcheck shell=bash
# time from exec to the first answer, against a bare Kestrel with ReadyToRun code
# shellcheck disable=SC2153
milliseconds_to_answer() { # URL COMMAND...: from the start of the command to the first answer of the URL
  local url=$1 from=$EPOCHREALTIME; shift
  "$@" >/dev/null 2>&1 & local pid=$!
  until curl -s -o /dev/null "$url"; do sleep 0.002; done
  awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f\n", (b - a) * 1000 }'
  kill -TERM "$pid"; wait "$pid" 2>/dev/null || true
}
# The data directory exists and was stopped cleanly, as after a reboot.
start_rookery "$WORK/start"
create_database bench
stop "$ROOKERY_PID"
for _ in 1 2 3 4 5 6 7; do
  milliseconds_to_answer "http://127.0.0.1:$PORT/readyz" "$ROOKERY" serve --data "$WORK/start" --listen "http://127.0.0.1:$PORT" >>"$WORK/start.rookery"
  milliseconds_to_answer "http://127.0.0.1:$BARE_PORT/" "$TOOL" bare "http://127.0.0.1:$BARE_PORT" 10 >>"$WORK/start.bare"
done
rookery=$(median <"$WORK/start.rookery") bare=$(median <"$WORK/start.bare")
row start "median of 7" "rookery ms to first answer" "$rookery"
row start "median of 7" "bare Kestrel ms to first answer" "$bare"
row start "median of 7" "rookery / bare Kestrel" "$(ratio "$rookery" "$bare")"
