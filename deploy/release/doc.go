// Command release makes what a version of Parlance is handed out as:
//
//	go run -C deploy/release . --version 0.1.0
//
//	dist/parlance_0.1.0_<os>_<arch>.tar.gz       the program, licence, deploy/, proto/, how to start
//	dist/parlance_0.1.0_<os>_<arch>.cdx.json     its bill of materials (CycloneDX 1.6)
//	dist/parlance_0.1.0_image.tar                the image for linux/amd64 and arm64 (OCI layout)
//	dist/parlance_0.1.0_image_<arch>.tar         the same, one architecture, for `docker load`
//	dist/parlance-sdk-0.1.0.tgz                  the SDK for TypeScript, for npm install
//	dist/parlance-python-0.1.0.tar.gz            the source of the SDK for Python, for pip install
//	dist/goproxy/                                a module proxy with the SDK for Go, for go get
//	dist/SHA256SUMS
//
// The files depend on the commit and the versions of Go and npm only: times are the commit's,
// orders fixed. The SDKs are those of the commit, whatever the working tree has. The image has
// the content of the Dockerfile's last stage; no container engine is needed. This is a module of
// its own, so that its dependencies are not those of the product.
package main
