# shellcheck shell=bash
# 60 idle seconds of three members with --memory 128M: bytes written, CPU and resident memory of each, against etcd
start_cluster "$WORK/idle0" "$WORK/idle1" "$WORK/idle2" --memory 128M
create_cluster_database bench
start_etcd "$WORK/etcdidle0" "$WORK/etcdidle1" "$WORK/etcdidle2"
"$TOOL" small 100000 "$WORK/idle"
PORT=$(member_port "$(leading_member)") bulk_load bench "$WORK/idle/bulk.json"
sleep 60
written_by() { awk '/^write_bytes/ { print $2 }' "/proc/$1/io"; }
leader=$(leading_member) etcd_leader=$(leading_etcd)
declare -A idle_subjects=(["rookery leader"]=${MEMBER_PID[$leader]} ["etcd leader"]=${ETCD_PID[$etcd_leader]})
for number in "${MEMBERS[@]}"; do
  [[ $number == "$leader" ]] || idle_subjects["rookery follower n$number"]=${MEMBER_PID[$number]}
  [[ $number == "$etcd_leader" ]] || idle_subjects["etcd follower n$number"]=${ETCD_PID[$number]}
done
declare -A bytes_before=() cpu_before=()
for subject in "${!idle_subjects[@]}"; do
  bytes_before[$subject]=$(written_by "${idle_subjects[$subject]}") cpu_before[$subject]=$(cpu_seconds "${idle_subjects[$subject]}")
done
sleep 60
for subject in "${!idle_subjects[@]}"; do
  pid=${idle_subjects[$subject]}
  row cluster-idle "$subject, 60 s" "bytes written" "$(($(written_by "$pid") - bytes_before[$subject]))"
  row cluster-idle "$subject, 60 s" "CPU % of one core" "$(awk -v a="${cpu_before[$subject]}" -v b="$(cpu_seconds "$pid")" 'BEGIN { printf "%.2f", (b - a) / 60 * 100 }')"
  row cluster-idle "$subject, 60 s" "resident MiB" "$(resident_mib "$pid")"
done
