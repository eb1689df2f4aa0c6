# shellcheck shell=bash
# the leader of three members killed again and again: gap in acknowledged writes, etcd's at the same election timeout beside it
start_cluster "$WORK/failover0" "$WORK/failover1" "$WORK/failover2"
create_cluster_database bench
start_etcd "$WORK/etcdfailover0" "$WORK/etcdfailover1" "$WORK/etcdfailover2"
# What the leader published last; a second is the shortest, and what a quiet machine has.
election_timeout_milliseconds() { # URL
  curl -sf "$1/metrics" | awk '/^rookery_.*election_timeout_seconds/ { seconds = $NF } END { printf "%.0f", (seconds ? seconds : 1) * 1000 }'
}
others() { local number; for number in "${MEMBERS[@]}"; do [[ $number == "$2" ]] || "$1" "$number"; done; } # FUNCTION NUMBER

for kill in $(seq "$KILLS"); do
  leader=$(leading_member)
  timeout=$(election_timeout_milliseconds "$(member_url "$leader")")
  mapfile -t survivors < <(others member_url "$leader")
  gap=$("$TOOL" gap rookery "${MEMBER_PID[$leader]}" "${survivors[@]}")
  wait "${MEMBER_PID[$leader]}" 2>/dev/null || true
  row cluster-failover "kill $kill" "rookery gap ms" "$gap"
  row cluster-failover "kill $kill" "rookery gap / T" "$(ratio "$gap" "$timeout")"
  echo "$gap" >>"$WORK/gaps.rookery"
  ratio "$gap" "$timeout" >>"$WORK/gaps.rookery.ratio"; echo >>"$WORK/gaps.rookery.ratio"
  serve_member "$leader"

  leader=$(leading_etcd)
  mapfile -t survivors < <(others etcd_url "$leader")
  gap=$("$TOOL" gap etcd "${ETCD_PID[$leader]}" "${survivors[@]}")
  wait "${ETCD_PID[$leader]}" 2>/dev/null || true
  row cluster-failover "kill $kill" "etcd gap ms" "$gap"
  echo "$gap" >>"$WORK/gaps.etcd"
  serve_etcd "$leader"
  wait_until 60 etcd_is_healthy "$leader"
done
row cluster-failover "$KILLS kills" "rookery median gap ms" "$(median <"$WORK/gaps.rookery")"
row cluster-failover "$KILLS kills" "rookery longest gap ms" "$(sort -n "$WORK/gaps.rookery" | tail -1)"
row cluster-failover "$KILLS kills" "rookery median gap / T" "$(median <"$WORK/gaps.rookery.ratio")"
row cluster-failover "$KILLS kills" "rookery longest gap / T" "$(sort -n "$WORK/gaps.rookery.ratio" | tail -1)"
row cluster-failover "$KILLS kills" "etcd median gap ms" "$(median <"$WORK/gaps.etcd")"
row cluster-failover "$KILLS kills" "etcd longest gap ms" "$(sort -n "$WORK/gaps.etcd" | tail -1)"
