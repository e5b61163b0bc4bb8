#!/usr/bin/env bash
# A spoken question and its spoken answer, against a running `parlance dev` that has a transcriber
# and a synthesizer: makes an agent with a document, asks it by `parlance chat --voice`, prints what
# both said and how long it took, and leaves the answer in a WAV file. It ends with 1 when nothing
# was answered. What it makes in the workspace it also removes.
#
#   examples/voice.sh [-d DATA_DIR] [-o ANSWER.wav] [QUESTION.wav]
#
# DATA_DIR is ~/.local/share/parlance by default. Without a WAV file flite or espeak-ng says "When
# was the lamp of the lighthouse first lit?". Without a transcriber of your own:
#
#   echo "When was the lamp of the lighthouse first lit?" >questions.txt
#   go run ./test/recogniser/cmd -sentences questions.txt &
#   PARLANCE_STT_BASE_URL=http://127.0.0.1:8178/v1 go run ./cmd/parlance dev
#
# Needs curl, Node 20 or newer, Go or BINARY=/path/of/parlance, and flite or espeak-ng for its own
# question.
set -euo pipefail
data=${XDG_DATA_HOME:-$HOME/.local/share}/parlance answer=answer.wav
while getopts d:o: flag; do
	case $flag in
	d) data=$OPTARG ;;
	o) answer=$OPTARG ;;
	*) sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
question=${1-}
for program in curl node; do
	command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 1; }
done
[ -r "$data/dev.env" ] || { echo "there is no $data/dev.env: start \`go run ./cmd/parlance dev\` first" >&2; exit 1; }
. "$data/dev.env"
workspace=/workspaces/$PARLANCE_WORKSPACE_ID
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
die() { printf '  ✗ %s\n' "$*" >&2; exit 1; }

# api METHOD PATH [BODY] calls the REST API and prints the answer.
api() {
	local args=(-sS --fail-with-body --max-time 60 -X "$1" -H "Authorization: Bearer $PARLANCE_API_KEY")
	[ ! -r "$data/tls/ca.pem" ] || args+=(--cacert "$data/tls/ca.pem")
	[ $# -lt 3 ] || args+=(-H 'Content-Type: application/json' -d "$3")
	curl "${args[@]}" "$PARLANCE_BASE_URL$2"
}

# json EXPRESSION evaluates JavaScript over the JSON on standard input, called `it`.
json() { node -e 'const it = JSON.parse(require("fs").readFileSync(0, "utf8")); process.stdout.write(String(eval(process.argv[1])))' "$1"; }

cleanup() {
	local code=$?
	trap - EXIT
	[ -z "${agent-}" ] || api DELETE "$workspace/agents/$agent" >/dev/null || true
	[ -z "${source-}" ] || api DELETE "$workspace/knowledge-base/sources/$source" >/dev/null || true
	rm -rf "$work"
	exit "$code"
}
trap cleanup EXIT

parlance=${BINARY-}
[ -n "$parlance" ] || { parlance=$work/parlance; (cd "$root" && go build -o "$parlance" ./cmd/parlance); }

step "An agent with a document"
source=$(api POST "$workspace/knowledge-base/sources/inline" \
	'{"name": "Lighthouse", "content": "# The lighthouse of Brevik\n\nThe lamp of the lighthouse was first lit in 1893."}' | json it.id)
agent=$(api POST "$workspace/agents" \
	'{"name": "Keeper", "first_message": "Hello.", "model": {"provider": "extractive"}}' | json it.id)
for _ in $(seq 150); do
	status=$(api GET "$workspace/knowledge-base/sources/$source" | json it.status)
	[ "$status" != ready ] || break
	sleep 0.2
done
[ "$status" = ready ] || die "the document is $status"
api POST "$workspace/agents/$agent/knowledge-base/attach" "{\"source_ids\": [\"$source\"]}" >/dev/null
printf '  %s with %s\n' "$agent" "$source"

step "A spoken question"
if [ -z "$question" ]; then
	question=$work/question.wav
	text="When was the lamp of the lighthouse first lit?"
	if command -v flite >/dev/null; then
		flite -voice slt -t "$text" -o "$question"
	elif command -v espeak-ng >/dev/null; then
		espeak-ng -v en-us -w "$question" "$text"
	else
		die "flite and espeak-ng are missing: install one of them, or name a WAV file"
	fi
fi
"$parlance" chat --data-dir "$data" --agent "$agent" --voice="$question" --voice-out="$answer" </dev/null | tee "$work/said"

step "What came back"
grep -q '^you   ▸ ' "$work/said" || die "the question was not understood"
grep -q 'timing  end of speech' "$work/said" || die "the question was not answered"
# 48,000 bytes are a second of sound, and silence is zeros.
sound=$(tail -c +45 "$answer" | tr -d '\000' | wc -c)
[ "$sound" -gt 20000 ] || die "the answer has no sound"
printf '  the answer is in %s\n' "$answer"
