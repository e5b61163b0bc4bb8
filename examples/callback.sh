#!/usr/bin/env bash
# A callback from beginning to end, with a service and a data directory of its own: "Call me back
# tomorrow at nine" in a chat; an operator moves it to now; a simulated telephone rings, answers and
# asks for a person; a second telephone, the person's, is connected; the minutes are in the usage.
# Prints "completed cb_…" at the end. Nothing keeps running, and nothing is left behind.
#
#   examples/callback.sh
#
# No account is needed: calls go over the simulated line of `parlance dev`, by the same protocol as
# at Twilio. What is said is understood by a small recogniser (test/recogniser).
# Needs curl, Node 20 or newer, Go or BINARY=/path/of/parlance, and what `parlance dev` and the
# recogniser need: as root on Debian or Ubuntu they install it.
set -euo pipefail
[ $# -eq 0 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2; }
for program in curl node; do
	command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 1; }
done
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /var/tmp/parlance-callback.XXXXXX)
chmod 711 "$work" # Postgres runs as another user when we are root, and must get through
pids=()

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
die() {
	printf '  ✗ %s\n' "$*" >&2
	tail -n 20 "$work"/*.log >&2 || true
	exit 1
}
cleanup() {
	local code=$?
	trap - EXIT
	for pid in "${pids[@]}"; do kill -INT "$pid" 2>/dev/null || true; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$work"
	exit "$code"
}
trap cleanup EXIT

# api METHOD PATH [BODY] calls the REST API and prints the answer.
api() {
	local args=(-sS --fail-with-body --max-time 60 -X "$1" -H "Authorization: Bearer $PARLANCE_API_KEY")
	[ $# -lt 3 ] || args+=(-H 'Content-Type: application/json' -d "$3")
	curl "${args[@]}" "$PARLANCE_BASE_URL$2"
}
# json EXPRESSION evaluates JavaScript over the JSON on standard input, called `it`.
json() { node -e 'const it = JSON.parse(require("fs").readFileSync(0, "utf8")); process.stdout.write(String(eval(process.argv[1])))' "$1"; }
# within SECONDS COMMAND… repeats a command until it succeeds.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.3
	done
}

caller=+12015550123 person=+12015550199 user=caller-1
request="I would like to speak to a person."

step "A service of its own"
parlance=${BINARY-}
[ -n "$parlance" ] || { parlance=$work/parlance; (cd "$root" && go build -o "$parlance" ./cmd/parlance); }
(cd "$root" && go build -o "$work/recogniser" ./test/recogniser/cmd)
printf '%s\n' "$request" >"$work/sentences"
"$work/recogniser" -listen 127.0.0.1:0 -sentences "$work/sentences" >"$work/recogniser.url" 2>"$work/recogniser.log" &
pids+=($!)
within 60 test -s "$work/recogniser.url" || die "the recogniser does not start"
PARLANCE_STT_BASE_URL=$(cat "$work/recogniser.url") "$parlance" dev --data-dir "$work/data" --port 0 --yes --model none \
	>"$work/dev.log" 2>&1 &
pids+=($!)
within 90 grep -qs 'Ctrl-C stops' "$work/dev.log" || die "the service does not start"
. "$work/data/dev.env"
workspace=/workspaces/$PARLANCE_WORKSPACE_ID
agent=$(api POST "$workspace/agents" '{
	"name": "Ada", "language": "en", "first_message": "Hello, this is Ada. I call you back as you asked. What can I do for you?",
	"model": {"provider": "extractive"},
	"callbacks": {"quiet_from": "00:00", "quiet_until": "00:00"},
	"handover": {"enabled": true, "mode": "warm", "ring_seconds": 20, "destinations": [{"name": "support", "phone_number": "'$person'"}]}
}' | json it.id)
api POST "$workspace/agents/$agent/tools/attach" '{"tool_id": "builtin:schedule_callback", "enabled": true}' >/dev/null
printf '  %s at %s\n' "$agent" "$PARLANCE_BASE_URL"

step "The user, in a chat: Call me back tomorrow at nine"
session=$(api POST /sessions "{\"agent_id\": \"$agent\", \"user_id\": \"$user\", \"modality\": \"text\"}" | json it.id)
say() { api POST "/sessions/$session/turns" "{\"text\": \"$1\"}" | json "it.text"; }
printf '  user   Call me back tomorrow at nine at %s.\n' "$caller"
printf '  agent  %s\n' "$(say "Call me back tomorrow at nine at $caller.")"
callback=$(api GET "$workspace/callbacks?user_id=$user" | json 'it.callbacks[0]?.id ?? ""')
[ -n "$callback" ] || die "no callback was planned"
api GET "$workspace/callbacks/$callback" | json '`  ${it.id}  ${it.status} for ${it.at}, ${it.timezone}\n`'

step "Two telephones, and an operator who does not wait until tomorrow"
"$parlance" call "$person" --data-dir "$work/data" --wait --calls 1 --answer --hang-up-after 15s >"$work/person.log" 2>&1 &
pids+=($!)
"$parlance" call "$caller" --data-dir "$work/data" --wait --calls 1 --answer --say "$request" --hang-up-after 60s >"$work/caller.log" 2>&1 &
telephone=$!
pids+=($telephone)
for log in person caller; do within 60 grep -qs "is there" "$work/$log.log" || die "the telephone of the $log does not start"; done
api PATCH "$workspace/callbacks/$callback" '{"at": "now"}' | json '`  ${it.id}  ${it.status} for ${it.at}\n`'
over() { [ "$(api GET "$workspace/callbacks/$callback" | json 'it.ended_at ? "over" : ""')" = over ]; }
within 120 over || die "the call is not over"
wait "$telephone" || true
sed 's/^/  /' "$work/caller.log"

step "What is left of it"
ended=$(api GET "$workspace/callbacks/$callback")
spoken=$(printf %s "$ended" | json it.session_id)
api GET "/sessions/$spoken/transcript" | json 'it.turns.flatMap(t => [["user ", t.user_text], ["agent", t.agent_text]])
	.filter(([, text]) => text).map(([who, text]) => `  ${who}  ${text}\n`).join("")'
call=$(api GET "$workspace/calls?user_id=$user")
printf %s "$call" | json 'it.calls.map(c =>
	`  ${c.id}  ${c.status} (${c.end_reason}), transfer ${c.transfer?.status}, ${c.pstn_minutes} minute\n`).join("")'
minutes=$(api GET /usage | json 'it.meters.find(m => m.meter === "pstn_minutes")?.quantity ?? 0')
printf '  %s minutes of the telephone in the usage\n\n' "$minutes"
[ "$(printf %s "$call" | json 'it.calls[0].transfer?.status')" = connected ] || die "the person was not connected"
[ "$minutes" -ge 1 ] || die "no minutes were counted"
printf '%s %s\n' "$(printf %s "$ended" | json it.status)" "$callback"
[ "$(printf %s "$ended" | json it.status)" = completed ]
