# shellcheck shell=bash
# memory while loading @iconify/json under --memory 128M, then 60 idle seconds: bytes written, CPU, wake-ups, resident memory
iconify_documents
mkdir -p "$WORK/idle"
start_rookery "$WORK/idle/data" --memory 128M
create_database icons
( while kill -0 "$ROOKERY_PID" 2>/dev/null && [[ ! -e $WORK/loaded ]]; do resident_mib "$ROOKERY_PID"; echo; sleep 0.2; done ) >"$WORK/resident.txt" &
sampler=$!
from=$EPOCHREALTIME
bulk_load icons "$WORK/iconify.json"
row idle "load" "seconds" "$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')"
: >"$WORK/loaded"
wait "$sampler" || true
row idle "load" "highest resident MiB" "$(sort -n "$WORK/resident.txt" | tail -1)"
row idle "load" "peak resident MiB (kernel)" "$(peak_resident_mib "$ROOKERY_PID")"
sleep 60
row idle "after 60 s" "resident MiB" "$(resident_mib "$ROOKERY_PID")"
written() { awk '/^write_bytes/ { print $2 }' "/proc/$ROOKERY_PID/io"; }
bytes=$(written) cpu=$(cpu_seconds "$ROOKERY_PID")
wakeups "$ROOKERY_PID" >"$WORK/woken.before"
sleep 60
row idle "60 s" "bytes written" "$(($(written) - bytes))"
row idle "60 s" "CPU % of one core" "$(awk -v a="$cpu" -v b="$(cpu_seconds "$ROOKERY_PID")" 'BEGIN { printf "%.2f", (b - a) / 60 * 100 }')"
wakeups "$ROOKERY_PID" >"$WORK/woken.after"
# Threads that ended meanwhile are left out: the difference of the sums was negative.
row idle "60 s" "wake-ups a second" "$(awk 'NR == FNR { before[$1] = $2; next } { sum += $2 - before[$1] } END { printf "%.1f", sum / 60 }' "$WORK/woken.before" "$WORK/woken.after")"
