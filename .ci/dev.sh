# Sourced by scripts in .ci that try a fresh `parlance dev`. It makes the directory $work, which is
# removed at the end, when what is in $pids is ended too.
#
#   . .ci/dev.sh
#   start_dev   starts it with data in $work/data and its log in $work/dev.log; $binary is the
#               program: BINARY, or built
#   await_dev   returns when it is ready, with the variables of its dev.env exported

work=$(mktemp -d "/var/tmp/parlance-${0##*/}.XXXXXX")
chmod 711 "$work" # Postgres runs as another user when we are root, and must get through
pids=()
cleanup() {
	local code=$?
	trap - EXIT
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$work"
	exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }

start_dev() {
	binary=${BINARY:-$work/parlance}
	[ -n "${BINARY:-}" ] || go build -o "$binary" ./cmd/parlance
	"$binary" dev --data-dir "$work/data" --port 0 --yes --model none "$@" >"$work/dev.log" 2>&1 &
	dev=$!
	pids+=("$dev")
}

await_dev() {
	local ca=()
	for _ in $(seq 1500); do # dev.env is written before /readyz first answers 200
		kill -0 "$dev" 2>/dev/null || break
		if [ -s "$work/data/dev.env" ]; then
			set -a; . "$work/data/dev.env"; set +a
			[ ! -e "$work/data/tls/ca.pem" ] || ca=(--cacert "$work/data/tls/ca.pem")
			! curl -fsS "${ca[@]}" "${PARLANCE_BASE_URL%/v1}/readyz" >/dev/null 2>&1 || return 0
		fi
		sleep 0.2
	done
	cat "$work/dev.log"
	echo "parlance dev does not become ready."
	return 1
}
