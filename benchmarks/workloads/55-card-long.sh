# shellcheck shell=bash
# ten minutes on the emulated card with real documents, flushes and compaction: device bytes per logical byte
iconify_documents
card_insert card 8G
for order in time random incompressible; do
  # 128 MiB is the default of a Pi with 512 MB. Each round has a new database. The zeros written ahead into the
  # journal are not counted.
  start_rookery "$WORK/card/$order" --memory 128M
  create_database bench
  curl -sf -X PUT "http://127.0.0.1:$PORT/databases/bench/docs?id=warm" -d '{}' >/dev/null
  sleep 5
  card_slow_down card
  before=$(card_bytes_written card)
  fed=$("$TOOL" feed "http://127.0.0.1:$PORT/databases/bench" "$WORK/iconify.json" "$order" $((CARD_MINUTES * 60)) "${CARD_RATE:-800}")
  sleep 20
  after=$(card_bytes_written card)
  card_speed_up card
  read -r documents bytes seconds <<<"$fed"
  row card-long "$order" "documents acknowledged" "$documents"
  row card-long "$order" "documents/s" "$(ratio "$documents" "$seconds")"
  row card-long "$order" "logical MiB" "$((bytes >> 20))"
  row card-long "$order" "device bytes / logical bytes" "$(ratio $((after - before)) "$bytes")"
  row card-long "$order" "peak resident MiB" "$(peak_resident_mib "$ROOKERY_PID")"
  stop "$ROOKERY_PID"
  rm -rf "${WORK:?}/card/$order"
done
card_remove card
