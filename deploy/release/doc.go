// Command release makes what a version of Parlance is handed out as:
//
//	go run -C deploy/release . --version 0.1.0
//
//	dist/parlance_0.1.0_<os>_<arch>.tar.gz       the program, licence, deploy/, proto/, how to start
//	dist/parlance_0.1.0_<os>_<arch>.cdx.json     its bill of materials (CycloneDX 1.6)
//	dist/parlance_0.1.0_image.tar                the image for linux/amd64 and arm64 (OCI layout)
//	dist/parlance_0.1.0_image_<arch>.tar         the same, one architecture, for `docker load`
//	dist/SHA256SUMS
//
// The files depend on the commit and the Go version only: times are the commit's, orders fixed. The
// image has the content of the Dockerfile's last stage; no container engine is needed. This is
// a module of its own, so that its dependencies are not those of the product.
package main
