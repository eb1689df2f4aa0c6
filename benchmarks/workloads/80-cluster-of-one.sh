# shellcheck shell=bash
# durable PUT of a node alone, and of a founded cluster of one, against the last build before the Raft host
before_commit=da4789f
before=$ROOT/artifacts/benchmarks/rookery-$before_commit
if [[ ! -x $before ]]; then
  mkdir -p "$WORK/before"
  git -C "$ROOT" archive "$before_commit" | tar -x -C "$WORK/before"
  make -s -C "$WORK/before" build
  install -m 755 "$WORK/before/artifacts/rookery" "$before"
fi
"$ROOKERY" cluster init --data "$WORK/founded" --name bench --node-name n0 >/dev/null
ROOKERY=$before PORT=$((PORT + 10)) start_rookery "$WORK/before-data"; MEMBER_PID[0]=$ROOKERY_PID
PORT=$((PORT + 11)) start_rookery "$WORK/alone"; MEMBER_PID[1]=$ROOKERY_PID
PORT=$((PORT + 12)) start_rookery "$WORK/founded"; MEMBER_PID[2]=$ROOKERY_PID
for number in "${MEMBERS[@]}"; do PORT=$((PORT + 10 + number)) create_database bench; done

export BENCH_COUNT=0 BENCH_PATH="/databases/bench/docs?id=p/"
first=0
for connections in 64 1; do
  for round in $(seq "$ROUNDS"); do
    first=$((first + 10000000))
    export BENCH_FIRST=$first
    rates=() costs=()
    # The order rotates with the rounds, so that no subject always follows the same one.
    for turn in "${MEMBERS[@]}"; do
      number=$(((turn + round) % 3))
      cpu=$(cpu_seconds "${MEMBER_PID[$number]}")
      rates[number]=$(wrk_rate put.lua "$connections" "$SECONDS_PER_RUN" "$(member_url "$number")")
      costs[number]=$(per_thousand "$(difference "$cpu" "$(cpu_seconds "${MEMBER_PID[$number]}")")" "${rates[number]}")
    done
    where="$connections connections, round $round"
    row cluster-of-one "$where" "before the Raft host writes/s" "${rates[0]}"
    row cluster-of-one "$where" "alone writes/s" "${rates[1]}"
    row cluster-of-one "$where" "founded cluster of one writes/s" "${rates[2]}"
    row cluster-of-one "$where" "CPU s per 1000 writes: before, alone, founded" "${costs[*]}"
    row cluster-of-one "$where" "alone / before" "$(ratio "${rates[1]}" "${rates[0]}")"
    row cluster-of-one "$where" "founded / before" "$(ratio "${rates[2]}" "${rates[0]}")"
  done
done
