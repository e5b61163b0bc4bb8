#!/bin/sh
# Makes gen/ from proto/: prints the third-party protos, lints, generates, formats nothing by
# hand. Needs Go and npm; offline once their packages have been downloaded.
set -eu
cd "$(dirname "$0")/.."

buf=proto/node_modules/.bin/buf
# The lock file is newer than the installed copy after a change of the pin.
if [ ! -x "$buf" ] || [ proto/package-lock.json -nt proto/node_modules/.package-lock.json ]; then
	npm ci --prefix proto --ignore-scripts --no-audit --no-fund --loglevel=error
fi

go run ./proto/gendeps .proto-deps
# Built before buf empties gen/, which it imports.
go build -o .proto-deps/bin/ ./proto/protoc-gen-parlance
"$buf" lint
"$buf" generate
"$buf" generate --template server/rest/testdata/buf.gen.yaml
"$buf" generate --template proto/typescript.gen.yaml # last: buf.gen.yaml empties gen/
go run ./sdk/generate

# The Python SDK's messages depend on protoc, whose version 3.21 is Debian 12's.
if protoc --version 2>/dev/null | grep -q '^libprotoc 3\.21\.'; then
	rm -rf sdk/python/src/parlance/v1 sdk/python/src/parlance/_services
	"$buf" generate --template proto/python.gen.yaml
else
	echo "sdk/python is left as it is: its generated files need protoc 3.21 (apt-get install protobuf-compiler)" >&2
fi
