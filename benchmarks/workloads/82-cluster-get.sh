# shellcheck shell=bash
# linearizable GET at 64 connections through the leader and through a follower of three members, against etcd's JSON gateway and gRPC
start_cluster "$WORK/get0" "$WORK/get1" "$WORK/get2"
create_cluster_database bench
start_etcd "$WORK/etcdget0" "$WORK/etcdget1" "$WORK/etcdget2"
read_documents=10000
"$TOOL" small "$read_documents" "$WORK/read"
PORT=$(member_port "$(leading_member)") bulk_load bench "$WORK/read/bulk.json"
# Stores the same documents in etcd, 128 puts in each transaction.
etcd_leader=$(leading_etcd)
awk -F'\t' '{ gsub(/"/, "\\\"", $2); print "put " $1 " \"" $2 "\"" }' "$WORK/read/copy.tsv" | split -l 128 - "$WORK/read/etcd."
for part in "$WORK"/read/etcd.*; do
  printf '\n%s\n\n\n' "$(<"$part")" | ETCDCTL_API=3 etcdctl --endpoints "$(etcd_url "$etcd_leader")" txn >/dev/null
done
[[ $(ETCDCTL_API=3 etcdctl --endpoints "$(etcd_url "$etcd_leader")" get --prefix d/ --keys-only | grep -c .) == "$read_documents" ]]
grpc_message d/77 >"$WORK/range.message"

export BENCH_COUNT=$read_documents BENCH_PATH="/databases/bench/docs?id=d/"
for round in $(seq "$ROUNDS"); do
  for through in leader follower; do
    if [[ $through == leader ]]; then
      rookery_url=$(member_url "$(leading_member)") etcd_url=$(etcd_url "$(leading_etcd)")
    else
      rookery_url=$(member_url "$(following_member)") etcd_url=$(etcd_url "$(following_etcd)")
    fi
    rookery=$(wrk_rate get.lua 64 "$SECONDS_PER_RUN" "$rookery_url")
    json=$(wrk_rate etcd-get.lua 64 "$SECONDS_PER_RUN" "$etcd_url")
    grpc=$(grpc_rate Range "$WORK/range.message" 64 "$SECONDS_PER_RUN" "$etcd_url")
    where="through a $through, round $round"
    row cluster-get "$where" "rookery requests/s" "$rookery"
    row cluster-get "$where" "etcd JSON requests/s" "$json"
    row cluster-get "$where" "etcd gRPC requests/s" "$grpc"
    row cluster-get "$where" "rookery / etcd JSON" "$(ratio "$rookery" "$json")"
    row cluster-get "$where" "rookery / etcd gRPC" "$(ratio "$rookery" "$grpc")"
  done
done
