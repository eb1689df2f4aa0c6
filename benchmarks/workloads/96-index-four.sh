# shellcheck shell=bash
# first build of four indexes on one collection against one index; the documents are read once for all four
iconify_documents "$EVERY"
start_rookery "$WORK/four" --memory 1G
create_database icons
bulk_load icons "$WORK/iconify.json" >/dev/null
settle "$ROOKERY_PID"
definitions() { # FIELD...
  local field all=()
  for field in "$@"; do all+=("{\"Name\":\"By/$field\",\"Maps\":[\"map('Icons', d => ({ $field: d.$field }))\"]}"); done
  (IFS=,; echo "${all[*]}")
}
# Prints the elapsed seconds and the CPU time of the indexing thread. No request waits, so the thread sleeps the same
# share for one index as for four.
built() { # FIELD...
  local cpu from
  drop_indexes icons
  cpu=$(indexing_cpu_seconds) from=$EPOCHREALTIME
  define_indexes icons "$(definitions "$@")"
  wait_until 600 is_fresh icons
  awk -v a="$from" -v b="$EPOCHREALTIME" -v c="$cpu" -v d="$(indexing_cpu_seconds)" 'BEGIN { printf "%.2f %.2f\n", b - a, d - c }'
}
for round in $(seq "$ROUNDS"); do
  read -r one_clock one_cpu < <(built name)
  read -r four_clock four_cpu < <(built name prefix width height)
  row index-four "round $round" "one index, s on the clock" "$one_clock"
  row index-four "round $round" "four indexes, s on the clock" "$four_clock"
  row index-four "round $round" "four / one, clock" "$(ratio "$four_clock" "$one_clock")"
  row index-four "round $round" "four / one, CPU" "$(ratio "$four_cpu" "$one_cpu")"
done
