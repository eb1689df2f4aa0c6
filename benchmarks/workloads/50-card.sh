# shellcheck shell=bash
# durable PUT on an emulated SD card: writes a second and device bytes a document
card_insert card 4G
start_rookery "$WORK/card/data"
create_database bench
export BENCH_COUNT=0 BENCH_PATH="/databases/bench/docs?id=c/"
for connections in 1 64; do
  for round in $(seq "$ROUNDS"); do
    export BENCH_FIRST=$((connections * 1000000 + round * 100000))
    card_slow_down card
    before=$(card_bytes_written card)
    rate=$(wrk_rate put.lua "$connections" "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
    after=$(card_bytes_written card)
    card_speed_up card
    row card "$connections connections, round $round" "rookery writes/s" "$rate"
    row card "$connections connections, round $round" "device bytes per document" "$(awk -v b=$((after - before)) -v r="$rate" -v s="$SECONDS_PER_RUN" 'BEGIN { printf "%.0f", b / (r * s) }')"
  done
done
stop "$ROOKERY_PID"
card_slow_down card
row card "the card itself" "write+fdatasync/s" "$("$TOOL" sync-rate "$WORK/card/sync-rate" 5)"
card_remove card
