# shellcheck shell=bash
# durable PUT at 64 and 1 connections through the leader of three members, against etcd's JSON gateway and gRPC, and DotNext.Net.Cluster
start_cluster "$WORK/member0" "$WORK/member1" "$WORK/member2"
create_cluster_database bench
start_etcd "$WORK/etcd0" "$WORK/etcd1" "$WORK/etcd2"
start_stock "$WORK/stock0" "$WORK/stock1" "$WORK/stock2"
document='{"name":"Ada Lovelace","age":36,"city":"London","joined":"2026-11-21T10:00:00","score":0.123456,"token":"0123456789abcdef","@metadata":{"@collection":"Users"}}'
grpc_message p/1 "$document" >"$WORK/put.message"

export BENCH_COUNT=0 BENCH_PATH="/databases/bench/docs?id=p/"
first=0
for connections in 64 1; do
  for round in $(seq "$ROUNDS"); do
    first=$((first + 10000000))
    export BENCH_FIRST=$first
    rookery_url=$(member_url "$(leading_member)") etcd_url=$(etcd_url "$(leading_etcd)")
    before=$(cpu_seconds_of "${MEMBER_PID[@]}")
    rookery=$(wrk_rate put.lua "$connections" "$SECONDS_PER_RUN" "$rookery_url")
    after=$(cpu_seconds_of "${MEMBER_PID[@]}")
    etcd_before=$(cpu_seconds_of "${ETCD_PID[@]}")
    json=$(wrk_rate etcd-put.lua "$connections" "$SECONDS_PER_RUN" "$etcd_url")
    etcd_between=$(cpu_seconds_of "${ETCD_PID[@]}")
    grpc=$(grpc_rate Put "$WORK/put.message" "$connections" "$SECONDS_PER_RUN" "$etcd_url")
    etcd_after=$(cpu_seconds_of "${ETCD_PID[@]}")
    stock_before=$(cpu_seconds_of "${STOCK_PID[@]}")
    stock=$(wrk_rate put.lua "$connections" "$SECONDS_PER_RUN" "$(stock_url "$(leading_stock)")")
    stock_after=$(cpu_seconds_of "${STOCK_PID[@]}")
    where="$connections connections, round $round"
    row cluster-put "$where" "rookery writes/s" "$rookery"
    row cluster-put "$where" "etcd JSON writes/s" "$json"
    row cluster-put "$where" "etcd gRPC writes/s" "$grpc"
    row cluster-put "$where" "DotNext writes/s" "$stock"
    row cluster-put "$where" "rookery members' CPU s per 1000 writes" "$(per_thousand "$(difference "$before" "$after")" "$rookery")"
    row cluster-put "$where" "etcd JSON members' CPU s per 1000 writes" "$(per_thousand "$(difference "$etcd_before" "$etcd_between")" "$json")"
    row cluster-put "$where" "etcd gRPC members' CPU s per 1000 writes" "$(per_thousand "$(difference "$etcd_between" "$etcd_after")" "$grpc")"
    row cluster-put "$where" "DotNext members' CPU s per 1000 writes" "$(per_thousand "$(difference "$stock_before" "$stock_after")" "$stock")"
    row cluster-put "$where" "rookery / DotNext" "$(ratio "$rookery" "$stock")"
    row cluster-put "$where" "rookery / etcd JSON" "$(ratio "$rookery" "$json")"
    row cluster-put "$where" "rookery / etcd gRPC" "$(ratio "$rookery" "$grpc")"
  done
done
