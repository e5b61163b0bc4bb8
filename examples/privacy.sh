#!/usr/bin/env bash
# Shows that a user can have a copy of everything, and can be erased. Somebody talks to an agent and
# says a word that is nowhere else. The export has it, and its hashes are those of its manifest.
# After the erasure the word is looked for in every table of the database, in Redis and in every
# file of the bucket. It ends with 1 when the word is missing where it should be, or left where it
# should not.
#
#   examples/privacy.sh     starts everything in a directory of its own, and removes it
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

work=$(mktemp -d /var/tmp/parlance-privacy.XXXXXX)
chmod 711 "$work" # Postgres runs as another user when we are root, and must get through
stack= service=
cleanup() {
	local code=$?
	trap - EXIT
	for pid in $service $stack; do
		kill -INT "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	if [ "$code" != 0 ]; then
		for log in "$work"/*.log; do [ ! -s "$log" ] || { printf -- '--- %s\n' "${log##*/}"; tail -20 "$log"; } >&2; done
	fi
	rm -rf "$work"
	exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
die() { printf '  ✗ %s\n' "$*" >&2; exit 1; }

# api METHOD PATH [BODY] calls the REST API and prints the answer.
api() {
	local args=(-sS --fail-with-body --max-time 60 -X "$1" -H "Authorization: Bearer $PARLANCE_API_KEY")
	[ $# -lt 3 ] || args+=(-H 'Content-Type: application/json' -d "$3")
	curl "${args[@]}" "$PARLANCE_BASE_URL$2"
}

# json EXPRESSION evaluates JavaScript over the JSON on standard input, called `it`.
json() { node -e 'const it = JSON.parse(require("fs").readFileSync(0, "utf8")); process.stdout.write(String(eval(process.argv[1])))' "$1"; }

step "Starting"
binary=${BINARY:-$work/parlance}
[ -n "${BINARY:-}" ] || go build -o "$binary" ./cmd/parlance
go build -o "$work/stack" ./test/stack
go build -o "$work/search" ./test/search
"$work/stack" -dir "$work/data" -env "$work/stack.env" >"$work/stack.log" 2>&1 &
stack=$!
for _ in $(seq 1200); do
	kill -0 "$stack" 2>/dev/null || { echo "Postgres and Redis do not start" >&2; exit 1; }
	[ ! -s "$work/stack.env" ] || break
	sleep 0.1
done
. "$work/stack.env"
export DATABASE_URL REDIS_URL
"$binary" dev --listen 127.0.0.1:0 --data-dir "$work/dev" --model none --embedding none >"$work/service.log" 2>&1 &
service=$!
for _ in $(seq 600); do
	kill -0 "$service" 2>/dev/null || { echo "the service does not start" >&2; exit 1; }
	if [ -s "$work/dev/dev.env" ]; then
		. "$work/dev/dev.env"
		! curl -fsS "${PARLANCE_BASE_URL%/v1}/readyz" >/dev/null 2>&1 || break
	fi
	sleep 0.2
done
user=ada-$$ word=heliotrope-$$-$RANDOM
requests=/workspaces/$PARLANCE_WORKSPACE_ID/privacy/requests

# request KIND makes a request and waits until it is ready; it prints the request.
request() {
	local id got
	id=$(api POST "$requests" '{"user_id":"'"$user"'","kind":"'"$1"'"}' | json it.id)
	for _ in $(seq 300); do
		got=$(api GET "$requests/$id")
		case $(json it.status <<<"$got") in
		ready) printf '%s' "$got"; return ;;
		failed) die "the $1 failed: $(json it.error <<<"$got")" ;;
		esac
		sleep 0.1
	done
	die "the $1 is not ready after half a minute"
}

step "A conversation"
api PATCH "/workspaces/$PARLANCE_WORKSPACE_ID/agents/$PARLANCE_AGENT_ID" '{"memory":{"enabled":true}}' >/dev/null
session=$(api POST /sessions '{"agent_id":"'"$PARLANCE_AGENT_ID"'","user_id":"'"$user"'","modality":"text",
	"dynamic_variables":{"note":"'"$word"'"}}' | json it.id)
for text in "I prefer $word." "What do you know about me?"; do
	printf '  user   %s\n  agent  %s\n' "$text" "$(api POST "/sessions/$session/turns" '{"text":"'"$text"'"}' | json it.text)"
done
api POST "/sessions/$session/end" '{"status":"completed"}' >/dev/null
printf '  Where the word is now:\n'
if "$work/search" -dir "$work/dev" "$word" >"$work/found"; then die "the word is nowhere before the erasure"; fi
sed "s/^/    /" "$work/found"

step "The export"
exported=$(request export)
curl -fsS -o "$work/export.zip" "$(json it.download_url <<<"$exported")"
"$binary" privacy verify "$work/export.zip" | sed 's/^/  /'
printf '  counts: %s\n' "$(json 'JSON.stringify(it.counts)' <<<"$exported")"
grep -q "$word" <(node -e '
	const zlib = require("zlib"), file = require("fs").readFileSync(process.argv[1]);
	for (let at = 0; (at = file.indexOf("PK\u0003\u0004", at)) >= 0; at += 4) { // the files of a ZIP
		const start = at + 30 + file.readUInt16LE(at + 26) + file.readUInt16LE(at + 28);
		try { process.stdout.write(zlib.inflateRawSync(file.subarray(start))); } catch {}
	}' "$work/export.zip") || die "the export lacks what was said"
printf '  the export has what was said\n'

step "A dry run of the erasure"
api POST "$requests" '{"user_id":"'"$user"'","kind":"erasure","dry_run":true}' | json '"  counts: " + JSON.stringify(it.counts) + "\n"'

step "The erasure"
erased=$(request erasure)
printf '  erased: %s\n' "$(json 'JSON.stringify(it.certificate.erased)' <<<"$erased")"
printf '  left:   %s\n' "$(json 'JSON.stringify(it.certificate.remaining)' <<<"$erased")"
[ "$(json it.user_id <<<"$erased")" = "" ] || die "the tombstone names the user"
rm "$work/export.zip"

step "What is left"
"$work/search" -dir "$work/dev" "$word" "$user" | sed 's/^/  /' || die "something is left"
printf '  neither what was said nor the user is in Postgres, in Redis or in a file of the bucket\n'
[ "$(json it.counts.sessions <<<"$(request export)")" = 0 ] || die "an export of the erased user has sessions"
printf '  another export is empty\n'
