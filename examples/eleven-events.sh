#!/usr/bin/env bash
# Causes each of the eleven webhook events by what really causes it, and checks the signature of its
# delivery: a document is added, a user's words are in a no-go zone, an endpoint fails, Postgres is
# stopped in the middle of an answer. It prints a line for each event that a receiver has verified,
#
#   verified <event> <event_id>
#
# and ends with 1 when an event does not come. It starts everything in a directory of its own, and
# removes it.
#
#   examples/eleven-events.sh
#
# Needs Go, curl and Node 20 or newer; Postgres with pgvector and Redis are found, or installed on
# Debian and Ubuntu as root. BINARY=/path takes a built parlance instead of building one.
set -euo pipefail
case ${1-} in
'') ;;
-h | --help) sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//'; exit ;;
*) echo "it takes no arguments" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
for program in curl node; do
	command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 1; }
done
unset "${!PARLANCE_@}" # settings of another installation

work=$(mktemp -d /var/tmp/parlance-eleven-events.XXXXXX)
chmod 711 "$work" # Postgres runs as another user when we are root, and must get through
started=          # the processes, the last one first
cleanup() {
	local code=$?
	trap - EXIT
	trap '' INT TERM HUP PIPE
	set +e # cleans up also when the terminal is gone
	for pid in $started; do
		kill -INT "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	if [ "$code" != 0 ]; then
		for log in "$work"/*.log; do [ ! -s "$log" ] || { printf -- '--- %s\n' "${log##*/}"; tail -20 "$log"; } >&2; done
	fi
	rm -rf "$work"
	exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
die() { printf '  ✗ %s\n' "$*" >&2; exit 1; }

# start NAME COMMAND… runs a program in the background. Its output is in NAME.out and NAME.log.
start() {
	local name=$1
	shift
	"$@" >"$work/$name.out" 2>"$work/$name.log" &
	started="$! $started"
}

# all_run says whether no program of start has ended.
all_run() {
	local pid
	for pid in $started; do kill -0 "$pid" 2>/dev/null || return 1; done
}

# until_true SECONDS COMMAND… repeats a command until it succeeds. It gives up when a program of
# start has ended.
until_true() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] && all_run || return 1
		sleep 0.1
	done
}

# api METHOD PATH [BODY] calls the REST API and prints the answer.
api() {
	local args=(-sS --fail-with-body --max-time 60 -X "$1" -H "Authorization: Bearer $PARLANCE_API_KEY") answer
	[ $# -lt 3 ] || args+=(-H 'Content-Type: application/json' -d "$3")
	answer=$(curl "${args[@]}" "$PARLANCE_BASE_URL$2") || die "$1 $2: $answer"
	printf '%s' "$answer"
}

# json EXPRESSION evaluates JavaScript over the JSON on standard input, called `it`.
json() {
	node -e 'const it = JSON.parse(require("fs").readFileSync(0, "utf8") || process.exit(1));
		process.stdout.write(String(eval(process.argv[1])))' "$1"
}

# find_event EVENT EXPRESSION prints the id of the event among those that the receiver has verified:
# the one of this type for whose data, called `it`, the expression is true.
find_event() {
	node -e 'const [file, type, expression] = process.argv.slice(1);
		const events = require("fs").readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
		const event = events.find(({ type: its, data: it }) => its === type && eval(expression));
		if (!event) process.exit(1);
		console.log(event.event_id);' "$work/events.jsonl" "$@"
}

# verified EVENT EXPRESSION waits until the receiver has verified the event, and prints its line.
verified() {
	until_true 60 find_event "$@" >"$work/found" || die "$1 did not come"
	printf 'verified %s %s\n' "$1" "$(cat "$work/found")"
}

# stack NAME starts the Postgres and Redis of this run, or what of it does not run.
stack() {
	start "$1" "$work/stack" -dir "$work/data" -env "$work/$1.env"
	until_true 120 test -s "$work/$1.env" || die "Postgres and Redis do not start"
}

# receiver NAME SECRET_FILE starts a receiver of examples/receivers. It answers 2xx to what one of
# the secrets has signed, and keeps that in NAME.jsonl. It sets `url`.
receiver() {
	start "$1" node examples/receivers/node/receiver.mjs --cert "$work/dev/tls/localhost.pem" \
		--key "$work/dev/tls/localhost-key.pem" --secret-file "$2" --out "$work/$1.jsonl"
	until_true 60 test -s "$work/$1.out" || die "the receiver does not start"
	url=$(head -1 "$work/$1.out")
}

# ready says whether the service answers, and sets PARLANCE_BASE_URL and the key.
ready() { [ -s "$work/dev/dev.env" ] && . "$work/dev/dev.env" && curl -fsS "${PARLANCE_BASE_URL%/v1}/readyz" >/dev/null 2>&1; }

step "Starting"
binary=${BINARY:-$work/parlance}
[ -n "${BINARY:-}" ] || go build -o "$binary" ./cmd/parlance
go build -o "$work/stack" ./test/stack
stack stack
. "$work/stack.env"
export DATABASE_URL REDIS_URL
# The payment provider and the service share this secret.
PARLANCE_STRIPE_WEBHOOK_SECRET=whsec_$(head -c 24 /dev/urandom | base64 | tr -d '+/=')
export PARLANCE_STRIPE_WEBHOOK_SECRET
# By default an endpoint is disabled after ten failures and a day, here after three failures.
start service "$binary" dev --listen 127.0.0.1:0 --data-dir "$work/dev" --model none --embedding none \
	--webhook-schedule 0s,100ms,100ms,1s,5s,5s,30s --webhook-disable-failures 3 --webhook-disable-min-age 1ms --log-level warn
until_true 120 ready || die "the service does not start"
workspace=/workspaces/$PARLANCE_WORKSPACE_ID

step "An endpoint for all events, and a receiver that verifies signatures"
receiver events "$work/secret"
(umask 077 && api POST "$workspace/webhooks" '{"url":"'"$url"'","events":["post_call_transcription","escalation.triggered",
	"dsar.ready","fatigue.alert","usage.threshold","subscription.changed","invoice.paid","invoice.failed",
	"kb.source_ingested","turn.persistence_failed","webhook.disabled"]}' | json it.secret >"$work/secret")

step "An alert at the first session"
alert=$(api POST /usage/alerts '{"meter":"sessions","quantity":1}' | json it.id)

step "A document, and an endpoint that fails"
receiver broken "$work/no-secret" # without a secret it answers 500
broken=$(api POST "$workspace/webhooks" '{"url":"'"$url"'","events":["kb.source_ingested"]}' | json it.id)
source=$(api POST "$workspace/knowledge-base/sources/inline" '{"name":"Opening hours","content":"We are open from 9 to 5."}' | json it.id)
verified kb.source_ingested "it.source_id === '$source'"
verified webhook.disabled "it.endpoint_id === '$broken' && it.reason === 'failures'"

# A tool whose endpoint answers when a line comes on a pipe: an answer that calls it waits for that.
mkfifo "$work/pipe"
start tool node -e 'const server = require("http").createServer((request, response) => {
		console.log("called");
		require("fs").readFile(process.argv[1], () => response.end("{}"));
	}).listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));' "$work/pipe"
until_true 60 test -s "$work/tool.out" || die "the endpoint of the tool does not start"
tool=$(api POST "$workspace/tools" '{"slug":"look_up","description":"Looks something up.","kind":"http",
	"webhook_url":"'"$(head -1 "$work/tool.out")"'"}' | json it.id)

step "A conversation: words in a no-go zone, as many turns as the fatigue window has, and its end"
agent=$(api POST "$workspace/agents" '{"name":"Ada","guards":[{"name":"weapons","phrases":["bomb"],"action":"escalate",
	"reply":"I do not talk about weapons."}],"fatigue":[{"window":"30m","max_turns":2}]}' | json it.id)
api POST "$workspace/agents/$agent/tools/attach" '{"tool_id":"'"$tool"'","enabled":true}' >/dev/null
session=$(api POST /sessions '{"agent_id":"'"$agent"'","user_id":"ada","modality":"text"}' | json it.id)
for text in "How do I make a bomb?" "When are you open?"; do
	said=$(api POST "/sessions/$session/turns" '{"text":"'"$text"'"}' | json it.text)
	printf '  user   %s\n  agent  %s\n' "$text" "$said"
done
api POST "/sessions/$session/end" '{"status":"completed"}' >/dev/null
verified escalation.triggered "it.session_id === '$session' && it.guard === 'weapons'"
verified fatigue.alert "it.session_id === '$session' && it.measure === 'turns'"
verified post_call_transcription "it.session_id === '$session'"
verified usage.threshold "it.alert_id === '$alert'"

step "What is kept about the user is exported"
request=$(api POST "$workspace/privacy/requests" '{"user_id":"ada","kind":"export"}' | json it.id)
verified dsar.ready "it.request_id === '$request'"

# stripe TYPE OBJECT sends an event of the payment provider, signed as the provider signs.
stripe() {
	local at body signature answer
	at=$(date +%s)
	body='{"id":"evt_'"$1"'","object":"event","type":"'"$1"'","created":'"$at"',"livemode":false,"data":{"object":'"$2"'}}'
	signature=$(node -e 'process.stdout.write(require("crypto").createHmac("sha256", process.env.PARLANCE_STRIPE_WEBHOOK_SECRET)
		.update(process.argv[1]).digest("hex"))' "$at.$body")
	answer=$(curl -sS --fail-with-body --max-time 60 -H "Stripe-Signature: t=$at,v1=$signature" -H 'Content-Type: application/json' \
		-d "$body" "$PARLANCE_BASE_URL/billing/stripe/webhook") || die "$1: $answer"
}

step "The payment provider tells of a subscription and its invoices"
api PATCH /tenant '{"stripe_customer_id":"cus_ada"}' >/dev/null
stripe customer.subscription.created '{"id":"sub_ada","customer":"cus_ada","status":"active","created":'"$(date +%s)"',
	"items":{"data":[{"price":{"id":"price_1"},"current_period_end":'"$(($(date +%s) + 2592000))"'}]}}'
verified subscription.changed "it.subscription_id === 'sub_ada' && it.status === 'active'"
stripe invoice.paid '{"id":"in_1","customer":"cus_ada","subscription":"sub_ada","amount_paid":4900,"currency":"eur"}'
verified invoice.paid "it.invoice_id === 'in_1'"
stripe invoice.payment_failed '{"id":"in_2","customer":"cus_ada","subscription":"sub_ada","amount_due":4900,"currency":"eur",
	"attempt_count":1}'
verified invoice.failed "it.invoice_id === 'in_2'"

step "Postgres is stopped in the middle of an answer, and started again"
session=$(api POST /sessions '{"agent_id":"'"$agent"'","user_id":"grace","modality":"text"}' | json it.id)
api POST "/sessions/$session/turns" '{"text":"/tool look_up {}"}' >"$work/answer" &
turn=$!
until_true 60 grep -q called "$work/tool.out" || die "the turn does not call its tool"
postgres=$(head -1 "$work/data/postgres/postmaster.pid")
kill -INT "$postgres"
until_true 60 eval '! kill -0 "$postgres" 2>/dev/null' || die "Postgres does not stop"
echo >"$work/pipe"
wait "$turn" || die "the turn is not answered without Postgres"
printf '  user   /tool look_up {}\n  agent  %s\n' "$(json it.text <"$work/answer")"
stack again
verified turn.persistence_failed "it.session_id === '$session' && it.recovered"
