#!/usr/bin/env bash
# A conversation from end to end against a running `parlance dev`, by every door: curl for REST
# and for turns, grpcurl for gRPC, the openai npm package for the socket, and an HTTPS receiver
# that verifies the signed webhook. It checks what comes back and ends with 1 at the first
# mismatch. What it makes it also removes, so it can be run again.
#
#   examples/first-conversation.sh [DATA_DIR]     default: ~/.local/share/parlance
#
# Needs curl, Go, and Node 20 or newer with npm.
set -euo pipefail
data=${1:-$HOME/.local/share/parlance}
case $data in /*) ;; *) data=$PWD/$data ;; esac
cd "$(dirname "$0")/.."
grpcurl_version=v1.9.3
for program in curl go node npm; do
	command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 1; }
done
[ -r "$data/dev.env" ] || { echo "there is no $data/dev.env: start \`go run ./cmd/parlance dev\` first" >&2; exit 1; }
. "$data/dev.env"
origin=${PARLANCE_BASE_URL%/v1}
workspace=/workspaces/$PARLANCE_WORKSPACE_ID
agent=$workspace/agents/$PARLANCE_AGENT_ID
run=$(date +%s)-$$ # tells this run's things from others'
work=$(mktemp -d)

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
seen() { printf '  ✓ %s\n' "$*"; }
die() { printf '  ✗ %s\n' "$*" >&2; exit 1; }

# curl_api ARGS… is curl with the key and, for `dev --tls`, the local CA.
curl_api() { curl -sS --max-time 60 --cacert "$work/ca.pem" -H "Authorization: Bearer $PARLANCE_API_KEY" "$@"; }

# api STATUS METHOD PATH [BODY] calls the REST API, insists on the status and prints the answer.
api() {
	local want=$1 method=$2 path=$3 body=${4-} got
	local args=(-X "$method" -o "$work/answer" -w '%{http_code}')
	[ -z "$body" ] || args+=(-H 'Content-Type: application/json' -d "$body")
	got=$(curl_api "${args[@]}" "$PARLANCE_BASE_URL$path") || die "$method $path: no answer"
	[ "$got" = "$want" ] || die "$method $path answered $got instead of $want: $(cat "$work/answer")"
	cat "$work/answer"
}

# json EXPRESSION evaluates JavaScript over the JSON on standard input, called `it`.
json() {
	node -e 'const it = JSON.parse(require("fs").readFileSync(0, "utf8"));
		const value = eval(process.argv[1]);
		process.stdout.write(typeof value === "object" ? JSON.stringify(value) : String(value))' "$1"
}

# check EXPRESSION WHAT insists that an expression over the JSON on standard input is true.
check() {
	local input; input=$(cat)
	[ "$(json "$1" <<<"$input")" = true ] || die "$2 — not so: $1 in $input"
	seen "$2"
}

# eventually SECONDS COMMAND… repeats a command until it succeeds.
eventually() {
	local deadline=$((SECONDS + $1)); shift
	until "$@"; do
		[ $SECONDS -lt "$deadline" ] || return 1
		sleep 0.2
	done
}

cleanup() {
	local code=$?
	trap - EXIT
	[ -z "${receiver-}" ] || kill "$receiver" 2>/dev/null || true
	[ -z "${endpoint_id-}" ] || curl_api -o /dev/null -X DELETE "$PARLANCE_BASE_URL$workspace/webhooks/$endpoint_id" || true
	[ -z "${tool_id-}" ] || curl_api -o /dev/null -X DELETE "$PARLANCE_BASE_URL$workspace/tools/$tool_id" || true
	[ -z "${source_id-}" ] || curl_api -o /dev/null -X DELETE "$PARLANCE_BASE_URL$workspace/knowledge-base/sources/$source_id" || true
	rm -rf "$work"
	exit "$code"
}
trap cleanup EXIT

cat "$data/tls/ca.pem" >"$work/ca.pem"

step "1. Is it there?"
curl -sS --max-time 60 --cacert "$work/ca.pem" "$origin/readyz" | check 'it.status === "ready"' "$origin/readyz says ready"

step "2. A webhook endpoint: an HTTPS receiver on this machine"
go build -o "$work/receiver" ./examples/receivers/go
: >"$work/secret"; : >"$work/events.jsonl"
"$work/receiver" --cert "$data/tls/localhost.pem" -key "$data/tls/localhost-key.pem" \
	-secret-file "$work/secret" -out "$work/events.jsonl" >"$work/receiver.url" 2>"$work/receiver.log" &
receiver=$!
eventually 60 test -s "$work/receiver.url" || die "the receiver does not start: $(cat "$work/receiver.log")"
endpoint=$(api 201 POST "$workspace/webhooks" \
	"{\"url\": \"$(cat "$work/receiver.url")\", \"events\": [\"post_call_transcription\", \"kb.source_ingested\"],
	\"description\": \"example $run\"}")
endpoint_id=$(json it.id <<<"$endpoint")
json it.secret <<<"$endpoint" >"$work/secret"
check 'it.secret.startsWith("whsec_") && it.status === "enabled"' "$endpoint_id is enabled; its secret was shown once" <<<"$endpoint"
api 200 GET "$workspace/webhooks/$endpoint_id" | check '!it.secret && it.secret_hint.length === 4' "reading it again shows no secret"

step "3. A document: pasted, ingested in the background, attached, searched"
lighthouse="The keeper of the lighthouse keeps a cat called Marzipan. The lamp was first lit in 1893."
source_id=$(api 202 POST "$workspace/knowledge-base/sources/inline" \
	"{\"name\": \"Lighthouse $run\", \"content\": \"# The lighthouse of Brevik\n\n$lighthouse\"}" | json it.id)
seen "$source_id was accepted (202)"
source_ready() { [ "$(api 200 GET "$workspace/knowledge-base/sources/$source_id" | json it.status)" = ready ]; }
eventually 60 source_ready || die "the source is not ready: $(cat "$work/answer")"
seen "it is ready"
api 200 POST "$agent/knowledge-base/attach" "{\"source_ids\": [\"$source_id\"]}" |
	check 'it.attachments.length === 1' "it is attached to the agent"
api 200 POST "$workspace/knowledge-base/query" \
	"{\"agent_id\": \"$PARLANCE_AGENT_ID\", \"q\": \"What is the name of the lighthouse keeper's cat?\", \"top_k\": 3}" |
	check "it.chunks[0].source_id === '$source_id' && it.chunks[0].similarity > 0" "a query finds it first"

step "4. A tool: created, run, attached"
orders=$(api 200 GET "$workspace/tools?page_size=200" | json 'it.tools.find(t => t.slug === "order_status").webhook_url')
slug=order_lookup_${run//-/_}
tool_id=$(api 201 POST "$workspace/tools" \
	"{\"slug\": \"$slug\", \"description\": \"Looks up an order.\", \"kind\": \"http\", \"method\": \"GET\",
	\"webhook_url\": \"$orders\", \"path_params\": [\"order_id\"], \"auth_header\": \"Bearer example\",
	\"input_schema\": {\"type\": \"object\", \"properties\": {\"order_id\": {\"type\": \"string\"}}, \"required\": [\"order_id\"]}}" |
	json it.id)
seen "$slug is $tool_id"
api 200 POST "$workspace/tools/$tool_id/run" '{"args": {"order_id": "A-1001"}}' |
	check 'it.status_code === 200 && it.output.status === "shipped" && !it.error &&
		!JSON.stringify(it.request).includes("Bearer example")' "a run reaches the endpoint, and shows no secret"
api 400 POST "$workspace/tools/$tool_id/run" '{"args": {"order": 7}}' |
	check 'it.code === "tool-arguments-invalid"' "wrong arguments are refused (400 tool-arguments-invalid)"
api 200 POST "$agent/tools/attach" "{\"tool_id\": \"$tool_id\", \"enabled\": true, \"max_calls_per_session\": 5}" |
	check 'it.enabled' "it is attached to the agent"

step "5. A session, and two turns by curl"
# The built-in responder answers here whatever model is configured, so that answers can be compared.
session=$(api 201 POST /sessions \
	"{\"agent_id\": \"$PARLANCE_AGENT_ID\", \"user_id\": \"example-$run\", \"modality\": \"text\",
	\"overrides\": {\"model\": {\"provider\": \"extractive\"}}}")
session_id=$(json it.id <<<"$session")
chat_url=$(json it.chat_url <<<"$session")
check 'it.status === "pending" && it.token && it.chat_url.includes("token=")' "$session_id is pending, with a signed chat_url" <<<"$session"
api 200 POST "/sessions/$session_id/turns" '{"text": "What is the cat of the lighthouse keeper called?"}' |
	check "it.text.includes('Marzipan') && it.citations.some(c => c.source_id === '$source_id')" \
		"the answer (JSON) is grounded in the document and cites it"
curl_api -N -H 'Accept: text/event-stream' -H 'Content-Type: application/json' \
	-d "{\"text\": \"/tool $slug {\\\"order_id\\\": \\\"A-1002\\\"}\"}" "$PARLANCE_BASE_URL/sessions/$session_id/turns" >"$work/stream"
for event in turn.started turn.tool_call turn.delta turn.done; do
	grep -q "^event: $event" "$work/stream" || die "the stream has no $event: $(cat "$work/stream")"
done
grep -q 'being packed' "$work/stream" || die "the tool's answer is not in the stream: $(cat "$work/stream")"
seen "the answer (Server-Sent Events) calls the tool: turn.started, turn.tool_call, turn.delta, turn.done"

step "6. gRPC: reflection and a streamed turn by grpcurl"
transport=(-plaintext)
case $origin in https:*) transport=(-cacert "$work/ca.pem") ;; esac
go_grpcurl() {
	go run "github.com/fullstorydev/grpcurl/cmd/grpcurl@$grpcurl_version" "${transport[@]}" \
		-H "authorization: Bearer $PARLANCE_API_KEY" "$@"
}
go_grpcurl "${origin#*://}" list | grep -x parlance.v1.SessionService >/dev/null ||
	die "reflection does not list parlance.v1.SessionService"
seen "reflection lists the services"
go_grpcurl -d "{\"session_id\": \"$session_id\", \"text\": \"When was the lamp of the lighthouse first lit?\"}" \
	"${origin#*://}" parlance.v1.SessionService/StreamTurn >"$work/grpc"
grep -q 'turn.done' "$work/grpc" && grep -q 1893 "$work/grpc" || die "the gRPC stream has no answer: $(cat "$work/grpc")"
seen "StreamTurn streams the same conversation"

step "7. The socket: the openai npm package on chat_url"
[ -d test/clients/node_modules/openai ] || (cd test/clients && npm ci --silent --no-audit --no-fund) || die "npm ci in test/clients failed"
CA_FILE=$work/ca.pem CHAT_URL=$chat_url EXPECT=Marzipan node test/clients/openai-text.mjs \
	"/tool $slug {\"order_id\": \"A-1003\"}" 'What is the cat of the lighthouse keeper called?' >"$work/socket" 2>&1 ||
		die "the socket: $(cat "$work/socket")"
grep -q "^tool: $slug .*delivered" "$work/socket" || die "the tool's call is not seen on the socket: $(cat "$work/socket")"
seen "it answers and shows the tool's call in OpenAI Realtime events; closing it hangs up"

step "8. The end, and the webhook"
hung_up() { [ "$(api 200 GET "/sessions/$session_id" | json it.end_reason)" = hang_up ]; }
eventually 60 hung_up || die "the hang-up did not end the session: $(cat "$work/answer")"
seen "the hang-up completed the session"
api 200 POST "/sessions/$session_id/end" '{"status": "failed", "reason": "too late"}' |
	check 'it.status === "completed" && it.end_reason === "hang_up"' "ending it again changes nothing"
api 200 GET "/sessions/$session_id/transcript" |
	check 'it.turns.filter(t => t.user_text).length >= 5' "the transcript has the turns of all doors"
api 409 POST "/sessions/$session_id/turns" '{"text": "Hello?"}' |
	check 'it.code === "session-closed"' "a turn after the end is refused (409 session-closed)"
arrived() { grep post_call_transcription "$work/events.jsonl" | grep -q "$session_id"; }
eventually 60 arrived || die "post_call_transcription did not arrive: $(cat "$work/receiver.log" "$work/events.jsonl")"
seen "post_call_transcription arrived with a valid signature"
grep kb.source_ingested "$work/events.jsonl" | grep -q "$source_id" || die "kb.source_ingested did not arrive"
seen "so did kb.source_ingested"
[ ! -s "$work/receiver.log" ] || die "the receiver refused something: $(cat "$work/receiver.log")"
event_id=$(grep post_call_transcription "$work/events.jsonl" | grep "$session_id" | json it.event_id)
recorded() {
	api 200 GET "$workspace/webhooks/$endpoint_id/deliveries?limit=200" >"$work/deliveries"
	local delivered="d.event_id === '$event_id' && d.status === 'succeeded' && d.status_code === 204"
	[ "$(json "it.deliveries.some(d => $delivered)" <"$work/deliveries")" = true ]
}
eventually 60 recorded || die "the delivery is not recorded: $(cat "$work/deliveries")"
seen "it is among the endpoint's deliveries: $event_id, answered 204"

step "9. Putting things back"
api 204 DELETE "$workspace/webhooks/$endpoint_id" && endpoint_id=
api 204 DELETE "$workspace/tools/$tool_id" && tool_id=
api 204 DELETE "$workspace/knowledge-base/sources/$source_id" && source_id=
seen "endpoint, tool and document are deleted"

printf '\nAll of it worked.\n'
