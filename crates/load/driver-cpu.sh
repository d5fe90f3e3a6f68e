#!/usr/bin/env bash
# The driver's own CPU time per request beside wrk's, on the floor server, in turns.
# Needs wrk, curl, taskset and two cores. Usage, after cargo build --release:
#   crates/load/driver-cpu.sh [SECONDS] [ROUNDS]
set -euo pipefail
seconds=${1:-10} rounds=${2:-5} castile=${CASTILE:-target/release/castile}
connections=16 serve=127.0.0.1:7801 floor=127.0.0.1:7802
work=$(mktemp -d)
children=()
# Its children end by their ids, however this script ends.
trap 'for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done; rm -rf "$work"' EXIT

cat >"$work/post.lua" <<'LUA'
wrk.method = "POST"
wrk.body = string.rep(" ", tonumber(os.getenv("REQUEST_BYTES")))
wrk.headers["Content-Type"] = "text/xml; charset=utf-8"
wrk.headers["SOAPAction"] = '"uri:WSTestWeb-TestService/' .. os.getenv("OPERATION") .. '"'
LUA

median() { sort -g | awk '{ a[NR] = $1 } END { print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
figure() { grep -m1 "\"$1\":" "$work/report/results.json" | tr -dc '0-9.'; }

# The answers that the floor gives: those of the service.
answer() {
  curl -sf --retry 20 --retry-connrefused --retry-delay 1 -H 'Content-Type: text/xml; charset=utf-8' \
    -H "SOAPAction: \"uri:WSTestWeb-TestService/$1\"" -o "$work/$1" "http://$serve/wstest" --data \
    "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><$1 xmlns='uri:WSTestWeb-TestService'>$2</$1></e:Body></e:Envelope>"
}
"$castile" serve --addr $serve >/dev/null &
children+=($!)
answer EchoVoid ''
answer GetOrder '<orderId>1</orderId><customerId>2</customerId>'
taskset -c 0 "$castile" floor --addr $floor --answer "$work/EchoVoid" --answer "$work/GetOrder" >/dev/null &
children+=($!)
curl -s --retry 20 --retry-connrefused --retry-delay 1 -o "$work/ready" --data '' "http://$floor/0"

index=0
for operation in EchoVoid GetOrder; do
  url=http://$floor/$index
  : >"$work/ours"; : >"$work/wrk"
  for _ in $(seq "$rounds"); do
    taskset -c 1 "$castile" bench wstest --op $operation --url "$url" --no-floor --no-pin --runs 1 --warmup 0.2 \
      --duration "$seconds" --connections $connections --out "$work/report" >/dev/null 2>&1
    figure driver_cpu_us_per_request >>"$work/ours"; echo >>"$work/ours"
    export OPERATION=$operation REQUEST_BYTES=$(figure request_bytes)
    TIMEFORMAT='%U %S'
    { time taskset -c 1 wrk -t1 -c$connections -d"$seconds" -s "$work/post.lua" "$url" >"$work/wrk.txt"; } 2>"$work/time"
    awk 'FNR == NR { cpu = $1 + $2; next } /requests in/ { printf "%.3f\n", cpu * 1e6 / $1 }' \
      "$work/time" "$work/wrk.txt" >>"$work/wrk"
  done
  sed -i '/^$/d' "$work/ours"
  ours=$(median <"$work/ours") wrk=$(median <"$work/wrk")
  ours=$(printf %.3f "$ours")
  echo "$operation: driver $ours µs, wrk $wrk µs of CPU time per request, ratio $(awk "BEGIN { printf \"%.2f\", $ours / $wrk }")"
  index=$((index + 1))
done
