# Machinery of .ci/deployment: the image's root directory, its processes, the proxies. Sourced.

work=$(mktemp -d /var/tmp/parlance-deployment.XXXXXX)
chmod 711 "$work" # Postgres and the image's user pass through
root=$work/root
pids=() # of what has to end, the last first
name=localhost

step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
seen() { printf '  ✓ %s\n' "$*"; }
die() {
	printf '  ✗ %s\n' "$*" >&2
	for log in "$work"/*.log; do [ ! -s "$log" ] || { printf -- '--- %s\n' "$log"; tail -15 "$log"; } >&2; done
	exit 1
}

# eventually SECONDS COMMAND… repeats a command until it succeeds.
eventually() {
	local deadline=$((SECONDS + $1)); shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt "$deadline" ] || return 1
		sleep 0.2
	done
}

stop() { # stop PID
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

cleanup() {
	local code=$?
	trap - EXIT
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do stop "${pids[i]}"; done
	rm -rf "$work"
	exit "$code"
}
trap cleanup EXIT

# neural_profile reads compose.yaml with the block of .env.example for the profile neural, which it
# puts in for the variables: the loader's command line has no way to set them.
neural_profile() {
	local loader=github.com/compose-spec/compose-go/v2/cmd@v2.16.2
	(cd "$work/compose" && go run "$loader" -no-interpolation -format json compose.yaml >"$work/neural.json" 2>"$work/neural.log") ||
		die "compose.yaml without its variables"
	node -e '
		const [model, example] = process.argv.slice(1).map((path) => require("fs").readFileSync(path, "utf8"));
		const block = example.match(/^#COMPOSE_PROFILES=neural\n(#.+\n)+/m)[0].replace(/^#/gm, "");
		const variables = Object.fromEntries(block.trim().split("\n").map((line) => line.split(/=(.*)/)));
		const filled = model.replace(/\$\{(\w+):-([^}]*)\}/g, (_, name, otherwise) => variables[name] ?? otherwise);
		const { services } = JSON.parse(filled);
		const wants = (what, got, want) => { if (got !== want) { console.log(`${what} is ${got}, not ${want}`); process.exit(1); } };
		const { PARLANCE_EMBEDDING_NAME: embeds, PARLANCE_RERANK_NAME: ranks } = variables;
		for (const name of ["server", "worker"]) {
			const { environment } = services[name];
			wants(`embedder of ${name}`, environment.PARLANCE_EMBEDDING_BASE_URL, "http://embedder:8080/v1");
			wants(`its model of ${name}`, environment.PARLANCE_EMBEDDING_NAME, embeds);
			wants(`reranker of ${name}`, environment.PARLANCE_RERANK_BASE_URL, "http://reranker:8080");
			wants(`its model of ${name}`, environment.PARLANCE_RERANK_NAME, ranks);
		}
		for (const [name, serves, revision] of
			[["embedder", embeds, variables.EMBEDDER_REVISION], ["reranker", ranks, variables.RERANKER_REVISION]]) {
			const { command, profiles, networks } = services[name];
			const after = (flag) => command[command.indexOf(flag) + 1];
			wants(`port of ${name}`, after("--port"), "8080");
			wants(`model of ${name}`, after("--model-id"), serves);
			wants(`revision of ${name}`, after("--revision"), revision);
			wants(`profile of ${name}`, String(profiles), variables.COMPOSE_PROFILES);
			wants(`network of ${name}`, Object.keys(networks).join(), "outbound");
		}' "$work/neural.json" .env.example || die "the profile neural of compose.yaml does not fit .env.example"
	seen "the profile neural has an embedder and a reranker, which server and worker call with .env.example"
}

# free_port prints a port that nobody listens on.
free_port() {
	node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}

# build_root does what the Dockerfile's stages do.
build_root() {
	mkdir -p "$root"/{usr/local/bin,etc/ssl/certs,var/lib/parlance/blobs,run/secrets,tmp,dev,proc}
	if [ -n "${BINARY-}" ]; then
		cp "$BINARY" "$root/usr/local/bin/parlance"
	else
		CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags timetzdata \
			-ldflags "-s -w -X parlance.dev/parlance/cli.version=9.9.9-ci -X parlance.dev/parlance/cli.revision=0123456789abcdef" \
			-o "$root/usr/local/bin/parlance" ./cmd/parlance
	fi
	cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
	echo 'parlance:x:65532:65532:parlance:/var/lib/parlance:/nonexistent' >"$root/etc/passwd"
	echo 'parlance:x:65532:' >"$root/etc/group"
	cp /etc/hosts /etc/resolv.conf "$root/etc/" # the container engine puts these there
	chmod 1777 "$root/tmp"
	head -c 32 /dev/urandom | base64 >"$root/run/secrets/master_key"
	chmod 0444 "$root/run/secrets/master_key"
	chown -R 65532:65532 "$root/var/lib/parlance"
	chmod 0700 "$root/var/lib/parlance" "$root/var/lib/parlance/blobs"
	! ldd "$root/usr/local/bin/parlance" >/dev/null 2>&1 || die "the binary is not static"
	[ -n "${BINARY-}" ] || boxed version | grep -q '^parlance 9.9.9-ci (0123456789ab,' || die "the version is not stamped: $(boxed version)"
}

# enter_root runs in a mount namespace of its own: everything but the volume and /tmp is read-only.
enter_root='
	set -e
	root=$1; shift
	mount --bind "$root" "$root"
	mount --bind "$root/var/lib/parlance" "$root/var/lib/parlance"
	mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
	mount --bind /dev "$root/dev"
	mount -t proc proc "$root/proc" 2>/dev/null || true
	mount -o remount,bind,ro "$root"
	exec chroot --userspec=65532:65532 --groups= "$root" /usr/local/bin/parlance "$@"'

# in_root [NAME=VALUE…] -- ARGS… is the container's process: it becomes parlance, so its pid is
# parlance's.
in_root() {
	local settings=()
	while [ "$1" != -- ]; do settings+=("$1"); shift; done
	shift
	exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "${image[@]}" "${settings[@]}" \
		unshare --mount --propagation private sh -c "$enter_root" parlance "$root" "$@"
}
boxed() { (in_root -- "$@"); }

image=(PARLANCE_BLOB_URL=file:///var/lib/parlance/blobs PARLANCE_LOG_FORMAT=json PARLANCE_MASTER_KEY_FILE=/run/secrets/master_key)

start_stack() {
	go build -o "$work/stack" ./test/stack
	"$work/stack" -dir "$work/data" -env "$work/stack.env" >"$work/stack.log" 2>&1 &
	pids+=($!)
	eventually 120 test -s "$work/stack.env" || die "no Postgres and Redis"
	. "$work/stack.env"
	image+=("DATABASE_URL=$DATABASE_URL" "REDIS_URL=$REDIS_URL")
	server_port=$(free_port)
	worker_port=$(free_port)
	metrics_port=$(free_port)
	image+=("PARLANCE_LISTEN=127.0.0.1:$server_port" "PARLANCE_WORKER_LISTEN=127.0.0.1:$worker_port"
		"PARLANCE_METRICS_LISTEN=127.0.0.1:$metrics_port")
}

start_parlance() { # start_parlance NAME=VALUE…
	(in_root "$@" -- server) >"$work/server.log" 2>&1 & server=$!
	(in_root "$@" -- worker) >"$work/worker.log" 2>&1 & worker=$!
	pids+=("$server" "$worker")
	eventually 60 boxed health || die "the server does not get well"
	eventually 60 boxed health --worker || die "the worker does not get well"
	seen "server and worker are well, says parlance health"
}

stop_parlance() {
	kill "$server" "$worker"
	wait "$server" || die "the server ended with $?"
	wait "$worker" || die "the worker ended with $?"
	seen "both end in order on SIGTERM"
	! boxed health >/dev/null 2>&1 || die "health is content with a server that is gone"
}

make_certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=$name" \
		-addext "subjectAltName=DNS:$name,IP:127.0.0.1" -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
}

# start_proxy nginx|caddy sets origin, ca and proxy.
start_proxy() {
	local port plain
	port=$(free_port); plain=$(free_port)
	origin=https://$name:$port
	"start_$1" "$port" "$plain"
	pids+=("$proxy_pid")
	eventually 20 curl -sS --cacert "$ca" -o /dev/null "$origin/" || die "$1 does not answer at $origin"
}
stop_proxy() { stop "$proxy_pid"; }

# start_nginx changes the lines of deploy/nginx/parlance.conf that its comments say to change, and
# the ports.
start_nginx() {
	ca=$work/cert.pem
	sed -e "s|127.0.0.1:8080|127.0.0.1:$server_port|; s|talk.example.com|$name|" \
		-e "s|listen 443|listen 127.0.0.1:$1|; s|listen 80;|listen 127.0.0.1:$2;|; /listen \[::\]/d" \
		-e "s|/var/log/nginx/parlance|$work/requests|" \
		-e "s|/etc/ssl/parlance/fullchain.pem|$work/cert.pem|; s|/etc/ssl/parlance/privkey.pem|$work/key.pem|" \
		deploy/nginx/parlance.conf >"$work/parlance.conf"
	cat >"$work/nginx.conf" <<-CONF
		daemon off; pid $work/nginx.pid; error_log $work/nginx.log; worker_processes 1;
		events { }
		http { client_body_temp_path $work/nginx-body; proxy_temp_path $work/nginx-proxy; include $work/parlance.conf; }
	CONF
	nginx -t -q -c "$work/nginx.conf" || die "nginx refuses deploy/nginx/parlance.conf"
	nginx -c "$work/nginx.conf" & proxy_pid=$!
}

# start_caddy takes deploy/caddy/Caddyfile as it is; the options before it keep Caddy off this
# machine's trust store and ports.
start_caddy() {
	ca=$work/caddy/caddy/pki/authorities/local/root.crt
	{
		printf '{\n\tadmin off\n\tskip_install_trust\n\thttp_port %s\n}\n' "$2"
		cat deploy/caddy/Caddyfile
	} >"$work/Caddyfile"
	PARLANCE_DOMAIN=$name:$1 PARLANCE_UPSTREAM=127.0.0.1:$server_port XDG_DATA_HOME=$work/caddy XDG_CONFIG_HOME=$work/caddy \
		caddy run --config "$work/Caddyfile" --adapter caddyfile >"$work/caddy.log" 2>&1 & proxy_pid=$!
}
