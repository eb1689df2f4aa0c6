# shellcheck shell=bash
# RavenDB's Node client over mutual TLS: unchanged, and closing every connection, with and without resumption of TLS sessions
[[ -d $ROOT/server/tests/client/node_modules ]] || npm --prefix "$ROOT/server/tests/client" ci --no-audit --no-fund --loglevel=error >&2
tls_url=https://127.0.0.1:$PORT
"$ROOKERY" cluster init --data "$WORK/tls" --name bench --node-name n0 >/dev/null
start_secure_rookery() { # [NAME=VALUE]: an environment
  launch "$WORK/tls.log" env "$@" "$ROOKERY" serve --data "$WORK/tls" --listen "$tls_url"
  ROOKERY_PID=$LAUNCHED
  wait_until 60 curl -sf --cacert "$WORK/tls/cluster/authority.pem" "$tls_url/readyz"
}
# Prints the rows of VERSION keep|close TITLE, with the server's CPU time per request.
client_rows() {
  local before rate opened resumed
  before=$(cpu_seconds "$ROOKERY_PID")
  read -r rate opened resumed < <(node "$ROOT/benchmarks/client-tls.mjs" "$tls_url" "$WORK/owner.pfx" "$WORK/owner-ca.pem" "$1" "$2" "$SECONDS_PER_RUN")
  row client-tls "$1, $3, round $round" "requests/s" "$rate"
  row client-tls "$1, $3, round $round" "server CPU ms a request" "$(per_thousand "$(difference "$before" "$(cpu_seconds "$ROOKERY_PID")")" "$rate")"
  row client-tls "$1, $3, round $round" "connections, of them resumed" "$opened $resumed"
}

start_secure_rookery
wait_until 20 test -e "$WORK/tls/claim-code"
"$ROOKERY" claim --data "$WORK/tls" >"$WORK/owner.token"
"$ROOKERY" cert create owner --access admin --data "$WORK/tls" --to "$WORK" >/dev/null
curl -sf -X PUT --cacert "$WORK/owner-ca.pem" -H "Authorization: Bearer $(<"$WORK/owner.token")" "$tls_url/admin/databases?name=bench" -d '{"DatabaseName":"bench"}' >/dev/null
for round in $(seq "$ROUNDS"); do
  client_rows 7.2.6 keep "as it comes"
  client_rows 5.4.3 keep "as it comes"
  client_rows 5.4.3 close "closing, sessions resumed"
  stop "$ROOKERY_PID"
  start_secure_rookery DOTNET_SYSTEM_NET_SECURITY_DISABLETLSRESUME=1
  client_rows 5.4.3 close "closing, full handshakes"
  stop "$ROOKERY_PID"
  start_secure_rookery
done
