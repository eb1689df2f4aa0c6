# shellcheck shell=bash
# the IO timeline of the page in headless Chromium: frames a second with 100,000 events while zooming and moving, one node and three
if [[ -x /usr/bin/chromium ]]; then
  make -s -C "$ROOT" dashboard >&2
  [[ -d $ROOT/server/tests/browser/node_modules ]] || npm --prefix "$ROOT/server/tests/browser" ci --no-audit --no-fund --loglevel=error >&2
  for round in $(seq "$ROUNDS"); do
    for nodes in 1 3; do
      node "$ROOT/benchmarks/dashboard-timeline.mjs" "$SECONDS_PER_RUN" "$nodes" | sed "s/ events/&, round $round/" | tee -a "$RESULTS"
    done
  done
else
  say "dashboard-timeline needs Debian's chromium: apt-get install chromium"
fi
