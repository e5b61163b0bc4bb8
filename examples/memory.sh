#!/usr/bin/env bash
# An agent that remembers a user from one session to the next, and forgets when told: against a
# running `parlance dev`, with no language model. It says what it hears, checks it, and ends with 1
# at the first mismatch. The user is made up for this run and forgotten at the end.
#
#   examples/memory.sh [DATA_DIR]     default: ~/.local/share/parlance
#
# Needs curl and Node 20 or newer.
set -euo pipefail
data=${1:-$HOME/.local/share/parlance}
for program in curl node; do
	command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 1; }
done
[ -r "$data/dev.env" ] || { echo "there is no $data/dev.env: start \`go run ./cmd/parlance dev\` first" >&2; exit 1; }
. "$data/dev.env"
user=ada-$(date +%s)-$$
memory=/workspaces/$PARLANCE_WORKSPACE_ID/users/$user/memory

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

# open begins a session; say TEXT talks in it, and receipt FIELD is what the last turn read or
# wrote.
open() { session=$(api POST /sessions '{"agent_id":"'"$PARLANCE_AGENT_ID"'","user_id":"'"$user"'","modality":"text"}' | json it.id); }
say() {
	local got
	got=$(api POST "/sessions/$session/turns" '{"text":"'"$1"'"}')
	turn=$(json it.turn_id <<<"$got") said=$(json it.text <<<"$got")
	printf '  user   %s\n  agent  %s\n' "$1" "$said"
}
close() { api POST "/sessions/$session/end" '{"status":"completed"}' >/dev/null; }
receipt() { api GET "/sessions/$session/turns/$turn/receipt" | json "it.$1.length"; }
hears() { case $said in *"$1"*) ;; *) die "the agent did not say “$1”" ;; esac; }

step "A first session"
open
say "My name is Ada, and I prefer mornings."
[ "$(receipt memory_written)" = 2 ] || die "the receipt does not name two memories that were written"
printf '  the receipt names both memories that were written\n'
close

step "The next session"
open
say "What do you know about me?"
hears "Ada"
hears "mornings"
[ "$(receipt memory_read)" -ge 2 ] || die "the receipt does not name the memories that were read"
printf '  the receipt names the memories that were read\n'
say "Forget that I prefer mornings."
[ "$(receipt memory_written)" = 1 ] || die "the receipt does not name what was forgotten"
printf '  the receipt names what was forgotten\n'
say "What do you know about me?"
hears "Ada"
case $said in *mornings*) die "it still knows what it was told to forget" ;; esac
close

step "What an operator sees"
api GET "$memory" |
	json 'it.memories.map(m => "  " + m.kind + "  " + m.text + "  (" + m.created_by + ", " + m.turn_id + ")").join("\n") + "\n"'
api GET "/workspaces/$PARLANCE_WORKSPACE_ID/users/$user" |
	json '"  sessions " + it.sessions + ", turns " + it.turns + ", memories " + it.memories + "\n"'

step "Forget everything"
open
say "Forget everything."
[ "$(api GET "$memory" | json it.memories.length)" = 0 ] || die "something is left"
close
printf '\nAll of it worked.\n'
