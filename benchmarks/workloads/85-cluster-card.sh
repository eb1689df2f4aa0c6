# shellcheck shell=bash
# durable PUT through the leader of three members, each on its own emulated card: writes a second, device bytes a document and node
for card in card0 card1 card2; do card_insert "$card" 4G; done
cards_written() { local card total=0; for card in card0 card1 card2; do total=$((total + $(card_bytes_written "$card"))); done; echo "$total"; }
on_each_card() { local card; for card in card0 card1 card2; do "$1" "$card"; done; }
card_rounds() { # SUBJECT SCRIPT URL
  local connections round before after rate
  for connections in 1 64; do
    for round in $(seq "$ROUNDS"); do
      export BENCH_FIRST=$((connections * 1000000 + round * 100000))
      on_each_card card_slow_down
      before=$(cards_written)
      rate=$(wrk_rate "$2" "$connections" "$SECONDS_PER_RUN" "$3")
      after=$(cards_written)
      on_each_card card_speed_up
      row cluster-card "$connections connections, round $round" "$1 writes/s" "$rate"
      row cluster-card "$connections connections, round $round" "$1 device bytes per document and node" \
        "$(awk -v b=$((after - before)) -v r="$rate" -v s="$SECONDS_PER_RUN" 'BEGIN { printf "%.0f", b / 3 / (r * s) }')"
    done
  done
}
start_cluster "$WORK/card0/data" "$WORK/card1/data" "$WORK/card2/data"
create_cluster_database bench
export BENCH_COUNT=0 BENCH_PATH="/databases/bench/docs?id=c/"
# Wait until the zeros of the journal's next segment are written, because they must not be counted.
sleep 5
card_rounds rookery put.lua "$(member_url "$(leading_member)")"
for number in "${MEMBERS[@]}"; do stop "${MEMBER_PID[$number]}"; done
start_etcd "$WORK/card0/etcd" "$WORK/card1/etcd" "$WORK/card2/etcd"
card_rounds etcd etcd-put.lua "$(etcd_url "$(leading_etcd)")"
stop_everything
remove_cards
