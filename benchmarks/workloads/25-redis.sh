# shellcheck shell=bash
# Redis clients: SET and GET at 1 and 64 connections, and in pipelines of 30, against Redis and Garnet, all with a sync before each reply
start_rookery "$WORK/redis-door" --redis "$DOOR_PORT"
start_redis "$WORK/redis"
start_garnet "$WORK/garnet"
subjects=(rookery Redis Garnet)
declare -A port_of=([rookery]=$DOOR_PORT [Redis]=$REDIS_PORT [Garnet]=$GARNET_PORT)
declare -A pid_of=([rookery]=$ROOKERY_PID [Redis]=$REDIS_PID [Garnet]=$GARNET_PID)
declare -A rate

# A subject that does not sync what it acknowledges is no peer for SET.
for subject in "${subjects[@]}"; do
  syncs=$(count_syncs "${pid_of[$subject]}" redis-benchmark -p "${port_of[$subject]}" -t set -c 1 -n 200 -d 150 -r 100000000 --csv)
  row redis "200 SETs at one connection" "$subject syncs" "$syncs"
done

for subject in "${subjects[@]}"; do # the keys that are read
  redis-benchmark -p "${port_of[$subject]}" -t set -c 64 -P 30 -n $((3 * DOCUMENTS)) -d 150 -r "$DOCUMENTS" --csv >/dev/null 2>&1
done
for round in $(seq "$ROUNDS"); do
  for command in set get; do
    for load in "1 1" "64 1" "64 30"; do
      read -r connections pipeline <<<"$load"
      where="${command^^}, $connections connections, pipelines of $pipeline, round $round"
      for subject in "${subjects[@]}"; do
        rate[$subject]=$(redis_rate "${port_of[$subject]}" "$command" "$connections" "$pipeline" "$SECONDS_PER_RUN" "$DOCUMENTS")
        row redis "$where" "$subject requests/s" "${rate[$subject]}"
      done
      row redis "$where" "rookery / Redis" "$(ratio "${rate[rookery]}" "${rate[Redis]}")"
      row redis "$where" "rookery / Garnet" "$(ratio "${rate[rookery]}" "${rate[Garnet]}")"
    done
  done
done
