# shellcheck shell=bash
# repeated kills of the leader of three members: gap in acknowledged writes, against etcd at the same election timeout
start_cluster "$WORK/failover0" "$WORK/failover1" "$WORK/failover2"
create_cluster_database bench
start_etcd "$WORK/etcdfailover0" "$WORK/etcdfailover1" "$WORK/etcdfailover2"
# T: etcd's election timeout, and the shortest one of a Rookery leader. A Rookery leader with slow round trips or syncs
# uses a longer one, so the true gap / T is at most the printed one.
timeout_milliseconds=1000
# Calls FUNCTION with the number of each member but NUMBER.
others() { local number; for number in "${MEMBERS[@]}"; do [[ $number == "$2" ]] || "$1" "$number"; done; } # FUNCTION NUMBER

for kill in $(seq "$KILLS"); do
  leader=$(leading_member)
  mapfile -t survivors < <(others member_url "$leader")
  gap=$("$TOOL" gap rookery "${MEMBER_PID[$leader]}" "${survivors[@]}")
  wait "${MEMBER_PID[$leader]}" 2>/dev/null || true
  row cluster-failover "kill $kill" "rookery gap ms" "$gap"
  row cluster-failover "kill $kill" "rookery gap / T" "$(ratio "$gap" "$timeout_milliseconds")"
  echo "$gap" >>"$WORK/gaps.rookery"
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
for subject in rookery etcd; do
  middle=$(median <"$WORK/gaps.$subject") longest=$(sort -n "$WORK/gaps.$subject" | tail -1)
  row cluster-failover "$KILLS kills" "$subject median gap ms" "$middle"
  row cluster-failover "$KILLS kills" "$subject longest gap ms" "$longest"
  row cluster-failover "$KILLS kills" "$subject median gap / T" "$(ratio "$middle" "$timeout_milliseconds")"
  row cluster-failover "$KILLS kills" "$subject longest gap / T" "$(ratio "$longest" "$timeout_milliseconds")"
done
