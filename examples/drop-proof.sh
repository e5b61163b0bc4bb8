#!/usr/bin/env bash
# Breaks a conversation and shows that it survives. Two servers and a worker share one Postgres and
# one Redis; a client talks to an agent through a load balancer. In the middle of an answer its
# connection is cut, cut again so that it comes back on the other server, and then the server that
# answers is killed with kill -9. What the client sees is printed; in the end its answers are
# compared with the transcript. It ends with 1 when a turn was lost, or a piece of an answer came
# twice or not at all.
#
#   examples/drop-proof.sh                  starts everything in a directory of its own, and
#                                           removes it
#   examples/drop-proof.sh --dev [DATA_DIR] uses a running `parlance dev`
#                                           (default: ~/.local/share/parlance):
#                                           one server, so only connections are cut
#
# Needs Go; Postgres with pgvector and Redis are found, or installed on Debian and Ubuntu as root.
# BINARY=/path takes a built parlance instead of building one.
set -euo pipefail
usage() { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//'; }
dev=
data=${XDG_DATA_HOME:-$HOME/.local/share}/parlance
case ${1-} in
'') ;;
--dev) dev=1; data=${2:-$data} ;;
-h | --help) usage; exit ;;
*) usage >&2; exit 2 ;;
esac
case $data in /*) ;; *) data=$PWD/$data ;; esac
cd "$(dirname "$0")/.."

work=$(mktemp -d /var/tmp/parlance-drop-proof.XXXXXX)
chmod 711 "$work" # Postgres runs as another user when we are root, and must get through
stack= proof=
cleanup() {
	local code=$?
	trap - EXIT
	for pid in $proof $stack; do
		kill "$pid" 2>/dev/null || true
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

go build -o "$work/drop-proof" ./test/dropproof
if [ -n "$dev" ]; then
	"$work/drop-proof" -data-dir "$data"
	exit
fi

printf '\033[1mStarting\033[0m\n'
binary=${BINARY:-$work/parlance}
[ -n "${BINARY:-}" ] || go build -o "$binary" ./cmd/parlance
go build -o "$work/stack" ./test/stack
"$work/stack" -dir "$work/data" -env "$work/stack.env" >"$work/stack.log" 2>&1 &
stack=$!
for _ in $(seq 1200); do
	kill -0 "$stack" 2>/dev/null || { echo "Postgres and Redis do not start" >&2; exit 1; }
	[ ! -s "$work/stack.env" ] || break
	sleep 0.1
done
. "$work/stack.env"
mkdir "$work/blobs"
head -c 32 /dev/urandom | base64 >"$work/master.key"
chmod 600 "$work/master.key"
export DATABASE_URL REDIS_URL PARLANCE_BLOB_URL="file://$work/blobs" PARLANCE_MASTER_KEY_FILE="$work/master.key"
# Tools may reach loopback: the scripted model is on this machine.
export PARLANCE_WORKER_LISTEN=127.0.0.1:0 PARLANCE_LOG_LEVEL=warn PARLANCE_EGRESS_ALLOW_CIDRS=127.0.0.0/8
export DROP_PROOF_LOGS=$work
"$binary" migrate up >"$work/migrate.log" 2>&1
made=$("$binary" tenants create drop-proof --plan enterprise --json)
PARLANCE_API_KEY=$(sed -n 's/.*"api_key": *"\([^"]*\)".*/\1/p' <<<"$made")
export PARLANCE_API_KEY

"$work/drop-proof" -parlance "$binary" &
proof=$!
wait "$proof"
