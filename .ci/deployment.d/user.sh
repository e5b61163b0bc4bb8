# What .ci/deployment does as a new user, at $origin with the authority $ca. Sourced.

# ask ARGS… is curl with the key; an address of our own tells us from the proxy in the server's log.
ask() { curl -sS --max-time 60 --cacert "$ca" --interface 127.0.0.2 -H "Authorization: Bearer $key" "$@"; }

# api STATUS METHOD PATH [BODY] insists on the status and prints the answer.
api() {
	local got args=(-X "$2" -o "$work/answer" -D "$work/headers" -w '%{http_code}')
	[ -z "${4-}" ] || args+=(-H 'Content-Type: application/json' -d "$4")
	got=$(ask "${args[@]}" "$origin/v1$3") || die "$2 $3: no answer"
	[ "$got" = "$1" ] || die "$2 $3 answered $got instead of $1: $(cat "$work/answer")"
	cat "$work/answer"
}

# json EXPRESSION evaluates JavaScript over the JSON on standard input, called `it`.
json() { node -e 'const it = JSON.parse(require("fs").readFileSync(0, "utf8")); process.stdout.write(String(eval(process.argv[1])))' "$1"; }

check() { # check WHAT COMMAND…
	local what=$1; shift
	"$@" || die "not so: $what"
	seen "$what"
}

new_tenant() {
	local made
	made=$(boxed tenants create "deployment $SECONDS" --plan enterprise --json)
	key=$(json it.api_key <<<"$made")
	workspace=/workspaces/$(json it.workspace_id <<<"$made")
	agent_id=$(api 201 POST "$workspace/agents" '{"name": "Ada"}' | json it.id)
}

# urls_are_those_of ORIGIN: every URL that is handed out begins with it, and the log has the caller.
urls_are_those_of() {
	new_tenant
	check "Location begins with $1" grep -qi "^location: $1/v1/" "$work/headers"
	session=$(api 201 POST /sessions "{\"agent_id\": \"$agent_id\", \"user_id\": \"ada\", \"modality\": \"text\"}")
	chat_url=$(json it.chat_url <<<"$session"); session_id=$(json it.id <<<"$session")
	check "chat_url begins with wss://${1#https://}/" test "${chat_url#"wss://${1#https://}/v1/realtime/"}" != "$chat_url"
	api 404 GET /sessions/ses_none >/dev/null
	check "the type of an error begins with $1/errors/" test "$(json "it.type.startsWith('$1/errors/')" <"$work/answer")" = true
	check "the log has the caller's own address" eventually 5 grep -q '"127\.0\.0\.2"' "$work/server.log"
}

use_as_new_user() {
	urls_are_those_of "$origin"
	use_rest
	use_rpc
	use_upload
	use_socket
	check "/metrics is closed" test "$(ask -o /dev/null -w '%{http_code}' "$origin/metrics")" = 404
	check "/metrics has its own address" test "$(curl -s "http://127.0.0.1:$metrics_port/metrics" | grep -c '^parlance_')" -gt 0
	local logs=("$work"/requests*.log "$work"/caddy.log)
	check "the proxy logs sockets" eventually 5 grep -qs /v1/realtime/ "${logs[@]}"
	! grep -s '[?&]token=' "${logs[@]}" || die "the proxy logs the tokens of sockets"
}

use_rest() {
	local source_id
	source_id=$(api 202 POST "$workspace/knowledge-base/sources/inline" \
		'{"name": "Lighthouse", "content": "The keeper of the lighthouse keeps a cat called Marzipan."}' | json it.id)
	ready() { [ "$(api 200 GET "$workspace/knowledge-base/sources/$source_id" | json it.status)" = ready ]; }
	eventually 30 ready || die "the source is not ready"
	api 200 POST "$workspace/agents/$agent_id/knowledge-base/attach" "{\"source_ids\": [\"$source_id\"]}" >/dev/null
	api 200 POST "/sessions/$session_id/turns" '{"text": "What is the cat of the lighthouse keeper called?"}' >"$work/turn"
	check "a turn as JSON is answered from the document" grep -q Marzipan "$work/turn"
	ask -N -H 'Accept: text/event-stream' -H 'Content-Type: application/json' -d '{"text": "And the cat of the keeper?"}' \
		"$origin/v1/sessions/$session_id/turns" >"$work/stream"
	check "a turn as events ends with turn.done" grep -q '^event: turn.done' "$work/stream"
}

use_rpc() {
	grpc() { go run github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3 -cacert "$ca" -H "authorization: Bearer $key" "$@"; }
	grpc "${origin#https://}" list >"$work/services" || die "grpcurl list"
	check "gRPC through TLS: reflection" grep -qx parlance.v1.SessionService "$work/services"
	grpc -d "{\"session_id\": \"$session_id\", \"text\": \"Which cat does the keeper have?\"}" "${origin#https://}" \
		parlance.v1.SessionService/StreamTurn >"$work/grpc" || die "grpcurl StreamTurn"
	check "gRPC through TLS: a streamed turn" grep -q Marzipan "$work/grpc"
	ask -H 'Content-Type: application/json' -d '{}' "$origin/parlance.v1.WorkspaceService/ListWorkspaces" >"$work/connect"
	check "Connect" grep -q '"workspaces"' "$work/connect"
	printf '\0\0\0\0\0' | ask -H 'Content-Type: application/grpc-web+proto' --data-binary @- \
		"$origin/grpc.health.v1.Health/Check" >"$work/grpcweb"
	check "gRPC-Web, its trailer in the body" grep -aqi 'grpc-status: *0' "$work/grpcweb"
}

use_upload() {
	# 4 MiB: more than nginx takes by default, little enough to be read quickly.
	yes 'The lighthouse of Brevik was first lit in 1893, and its lamp has turned ever since.' | head -c $((4 << 20)) >"$work/big.txt" || true
	local got
	got=$(ask -o "$work/answer" -w '%{http_code}' -F "file=@$work/big.txt;type=text/plain" \
		"$origin/v1$workspace/knowledge-base/sources/upload")
	check "an upload of 4 MiB is accepted" test "$got" = 202
	api 204 DELETE "$workspace/knowledge-base/sources/$(json it.id <"$work/answer")" >/dev/null
}

use_socket() {
	[ -d test/clients/node_modules/openai ] || (cd test/clients && npm ci --silent --no-audit --no-fund) || die "npm ci in test/clients"
	CA_FILE=$ca CHAT_URL=$chat_url EXPECT=Marzipan node test/clients/openai-text.mjs 'Hello' \
		'What is the cat of the lighthouse keeper called?' >"$work/socket" 2>&1 ||
		die "the openai package on wss: $(cat "$work/socket")"
	seen "the openai npm package talks over wss"
}

# doctor_is_content NAME=VALUE…: nothing failed, and what lies between was seen to pass.
doctor_is_content() {
	install -m 0444 "$ca" "$root/run/secrets/ca.pem"
	(in_root "$@" -- doctor --ca-file /run/secrets/ca.pem --json) >"$work/doctor" || die "doctor: $(cat "$work/doctor")"
	local name
	for name in certificate ours forwarded websocket stream upload grpc metrics; do
		[ "$(json "it.findings.find(f => f.area === 'public-url' && f.check === '$name')?.status" <"$work/doctor")" = ok ] ||
			die "doctor, $name: $(json "JSON.stringify(it.findings.filter(f => f.area === 'public-url'))" <"$work/doctor")"
	done
	local passed
	passed=$(json "it.findings.filter(f => f.status === 'ok').length" <"$work/doctor")
	seen "doctor: $passed checks are ok, among them certificate, proxy, WebSocket, event stream, upload, gRPC"
}
