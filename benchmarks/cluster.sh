# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the workloads
# Starts clusters of three members on this machine, of Rookery and of etcd. Sourced after lib.sh. Members have the
# numbers 0, 1 and 2.

MEMBERS=(0 1 2)
declare -A MEMBER_PID=() ETCD_PID=() MEMBER_DATA=() ETCD_DATA=()
MEMBER_OPTIONS=()

# Client ports of Rookery. The port for members is 1000 above.
member_port() { echo $((PORT + 10 + $1)); }
member_url() { echo "http://127.0.0.1:$(member_port "$1")"; }
serve_member() { # NUMBER
  launch "$WORK/member$1.log" "$ROOKERY" serve --data "${MEMBER_DATA[$1]}" --listen "$(member_url "$1")" "${MEMBER_OPTIONS[@]}"
  MEMBER_PID[$1]=$LAUNCHED
  wait_until 60 curl -sf "$(member_url "$1")/readyz"
}
member_votes() { # NUMBER: whether the member is a voter, according to the first member
  local topology; topology=$(curl -sf "$(member_url 0)/cluster/topology")
  [[ $topology =~ \"Members\":\{([^}]*)\} && ${BASH_REMATCH[1]} == *"$(member_url "$1")"* ]]
}
start_cluster() { # DATA DATA DATA [OPTIONS...]
  local number token
  for number in "${MEMBERS[@]}"; do MEMBER_DATA[$number]=$1; shift; done
  MEMBER_OPTIONS=("$@")
  "$ROOKERY" cluster init --data "${MEMBER_DATA[0]}" --name bench --node-name n0 >/dev/null
  serve_member 0
  for number in 1 2; do
    token=$("$ROOKERY" cluster token create --url "$(member_url 0)" 2>/dev/null)
    "$ROOKERY" cluster join "$token" --data "${MEMBER_DATA[$number]}" --name "n$number" --address "127.0.0.1:$(($(member_port "$number") + 1000))" </dev/null >/dev/null
    serve_member "$number"
  done
  # The second of two members is a standby, which does not vote. The second and the third vote once the third has
  # joined.
  for number in 1 2; do wait_until 60 member_votes "$number"; done
}
# Prints the number of a member that reports to be the leader, and waits for an election if there is none. (A former
# leader may not know yet that it lost leadership.)
leading_member() {
  local number deadline=$((SECONDS + 30))
  while ((SECONDS < deadline)); do
    for number in "${MEMBERS[@]}"; do
      if [[ $(curl -sf -m 2 "$(member_url "$number")/cluster/topology") == *'"CurrentState":"Leader"'* ]]; then echo "$number"; return; fi
    done
    sleep 0.1
  done
  say "no member of Rookery leads"
  return 1
}
following_member() { # the first follower
  local leader; leader=$(leading_member)
  echo $((leader == 0 ? 1 : 0))
}
create_cluster_database() { # NAME
  curl -sf -X PUT -H 'Content-Type: application/json' "$(member_url "$(leading_member)")/admin/databases?name=$1" -d "{\"DatabaseName\":\"$1\",\"Settings\":{}}" >/dev/null
}

# etcd has its default settings; election timeout and heartbeat are given explicitly. Its members use plain HTTP between
# each other, and Rookery's members use mutual TLS.
etcd_url() { echo "http://127.0.0.1:$((PORT + 20 + $1))"; }
etcd_peer_url() { echo "http://127.0.0.1:$((PORT + 1020 + $1))"; }
serve_etcd() { # NUMBER
  launch "$WORK/etcd$1.log" etcd --name "n$1" --data-dir "${ETCD_DATA[$1]}" --listen-client-urls "$(etcd_url "$1")" --advertise-client-urls "$(etcd_url "$1")" \
    --listen-peer-urls "$(etcd_peer_url "$1")" --initial-advertise-peer-urls "$(etcd_peer_url "$1")" --initial-cluster-token bench \
    --initial-cluster "n0=$(etcd_peer_url 0),n1=$(etcd_peer_url 1),n2=$(etcd_peer_url 2)" \
    --election-timeout 1000 --heartbeat-interval 100 --quota-backend-bytes 8589934592 --logger zap --log-level error
  ETCD_PID[$1]=$LAUNCHED
}
etcd_is_healthy() { [[ $(curl -sf -m 2 "$(etcd_url "$1")/health") == *true* ]]; }
start_etcd() { # DATA DATA DATA
  local number
  for number in "${MEMBERS[@]}"; do ETCD_DATA[$number]=$1; shift; serve_etcd "$number"; done
  for number in "${MEMBERS[@]}"; do wait_until 60 etcd_is_healthy "$number"; done
}
leading_etcd() {
  local number status deadline=$((SECONDS + 30))
  while ((SECONDS < deadline)); do
    for number in "${MEMBERS[@]}"; do
      status=$(curl -sf -m 2 "$(etcd_url "$number")/v3/maintenance/status" -d '{}') || continue
      if [[ $status =~ \"member_id\":\"([0-9]+)\" && $status == *"\"leader\":\"${BASH_REMATCH[1]}\""* ]]; then echo "$number"; return; fi
    done
    sleep 0.1
  done
  say "no member of etcd leads"
  return 1
}
following_etcd() {
  local leader; leader=$(leading_etcd)
  echo $((leader == 0 ? 1 : 0))
}

# DotNext.Net.Cluster with its default log (cluster/tests/Rookery.StockRaft): its members answer the same routes as those
# of Rookery, keep the documents in memory, and use plain TCP between each other.
declare -A STOCK_PID=()
STOCK_RAFT=$ROOT/artifacts/benchmarks/stock-raft/stock-raft
stock_url() { echo "http://127.0.0.1:$((PORT + 30 + $1))"; }
start_stock() { # DATA DATA DATA
  local number peers
  [[ -x $STOCK_RAFT ]] || dotnet publish "$ROOT/cluster/tests/Rookery.StockRaft" -c Release -o "$(dirname "$STOCK_RAFT")" -v quiet --nologo -p:RunAnalyzers=false >&2
  for number in "${MEMBERS[@]}"; do
    peers="$((PORT + 1030 + number)),$((PORT + 1030 + (number + 1) % 3)),$((PORT + 1030 + (number + 2) % 3))"
    launch "$WORK/stock$number.log" "$STOCK_RAFT" serve --data "$1" --listen "$(stock_url "$number")" --members "$peers"
    STOCK_PID[$number]=$LAUNCHED
    shift
  done
  for number in "${MEMBERS[@]}"; do wait_until 60 curl -sf "$(stock_url "$number")/readyz"; done
}
leading_stock() {
  local number deadline=$((SECONDS + 30))
  while ((SECONDS < deadline)); do
    for number in "${MEMBERS[@]}"; do
      if [[ $(curl -sf -m 2 "$(stock_url "$number")/leads") == true ]]; then echo "$number"; return; fi
    done
    sleep 0.1
  done
  say "no member of DotNext leads"
  return 1
}

# Prints a gRPC message with a key and, for a put, a value: `flag, length, protobuf` (fields 1 and 2 of RangeRequest and
# PutRequest). The message must be shorter than 256 bytes and the key shorter than 128. The value's length takes two bytes.
grpc_message() { # KEY [VALUE]
  local value=${2-}
  printf '%b' "\\0\\0\\0\\0\\0$(printf %o $((2 + ${#1} + (${#value} ? 3 + ${#value} : 0))))\\012\\0$(printf %o ${#1})$1"
  ((${#value} == 0)) || printf '%b' "\\022\\0$(printf %o $((${#value} % 128 + 128)))\\0$(printf %o $((${#value} / 128)))$value"
}
# gRPC calls/s of h2load, one call at a time on each connection; always the same message, so one key
grpc_rate() { # METHOD MESSAGE_FILE CONNECTIONS SECONDS URL
  local out
  out=$(h2load -t1 -m1 -c"$3" -D"$4" --warm-up-time=0 -d "$2" -H 'content-type: application/grpc' -H 'te: trailers' "$5/etcdserverpb.KV/$1")
  if ! grep -q ' 0 failed, 0 errored' <<<"$out"; then say "$out"; return 1; fi
  sed -nE 's/^finished in [^,]*, ([0-9.]+) req.*/\1/p' <<<"$out"
}

# PID...: the sum
cpu_seconds_of() { local pid total=0; for pid in "$@"; do total=$(awk -v a="$total" -v b="$(cpu_seconds "$pid")" 'BEGIN { print a + b }'); done; echo "$total"; }
# CPU seconds per 1000 requests: TOTAL is the CPU time of a run, and RATE its requests/s.
per_thousand() { awk -v d="$1" -v r="$2" -v s="$SECONDS_PER_RUN" 'BEGIN { printf "%.4f", d * 1000 / (r * s) }'; } # TOTAL RATE
difference() { awk -v a="$1" -v b="$2" 'BEGIN { print b - a }'; }
