# syntax=docker/dockerfile:1
#
#   docker build -t parlance .                    one static binary, CA certificates
#   docker build -t parlance:full --target full . on Debian, with what a worker calls
#   docker buildx build --platform linux/amd64,linux/arm64 …   cross-compiled, no emulation
#
# One image is server, worker and every command: `docker run parlance worker`.
# The digests are those of all platforms. docs/deployment.md says how to renew them.
ARG GO_IMAGE=golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
ARG DEBIAN_IMAGE=debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251

FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=
ARG COMMIT=
# timetzdata compiles the time zones in: the last stage has no files of them.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -tags timetzdata \
      -ldflags "-s -w ${VERSION:+-X parlance.dev/parlance/cli.version=$VERSION} ${COMMIT:+-X parlance.dev/parlance/cli.revision=$COMMIT}" \
      -o /out/parlance ./cmd/parlance
# What the last stage needs beside the binary. It has no shell, so it is put together here.
RUN mkdir -p /rootfs/etc/ssl/certs /rootfs/var/lib/parlance/blobs \
    && cp /etc/ssl/certs/ca-certificates.crt /rootfs/etc/ssl/certs/ \
    && echo 'parlance:x:65532:65532:parlance:/var/lib/parlance:/nonexistent' > /rootfs/etc/passwd \
    && echo 'parlance:x:65532:' > /rootfs/etc/group \
    && install -d -m 1777 /rootfs/tmp \
    && chmod 0700 /rootfs/var/lib/parlance /rootfs/var/lib/parlance/blobs \
    && chown -R 65532:65532 /rootfs/var/lib/parlance

# full is for workers, which read PDF with poppler and pictures with tesseract, and for servers that
# speak without a server of speech (espeak-ng), in a sandbox. The
# sandbox is bubblewrap where the container may make user namespaces, else the container itself.
# More languages: tesseract-ocr-deu and so on, and PARLANCE_OCR_LANGUAGES.
FROM ${DEBIAN_IMAGE} AS full
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates poppler-utils tesseract-ocr tesseract-ocr-eng espeak-ng bubblewrap \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /rootfs/var/lib/ /var/lib/
COPY --from=build --chmod=0755 /out/parlance /usr/local/bin/parlance
ENV PARLANCE_LISTEN=:8080 PARLANCE_BLOB_URL=file:///var/lib/parlance/blobs PARLANCE_LOG_FORMAT=json
VOLUME /var/lib/parlance
EXPOSE 8080
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/usr/local/bin/parlance", "health"]
ENTRYPOINT ["/usr/local/bin/parlance"]
CMD ["server"]

# The last stage is what `docker build` makes. .ci/deployment runs the service in a root directory
# that is put together by the same steps.
FROM scratch
ARG VERSION=
ARG COMMIT=
LABEL org.opencontainers.image.title="Parlance" \
      org.opencontainers.image.description="Runs conversational agents: tools, knowledge, sessions, signed webhooks" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
COPY --from=build /rootfs/ /
COPY --from=build --chmod=0755 /out/parlance /usr/local/bin/parlance
ENV PATH=/usr/local/bin PARLANCE_LISTEN=:8080 PARLANCE_BLOB_URL=file:///var/lib/parlance/blobs PARLANCE_LOG_FORMAT=json
VOLUME /var/lib/parlance
EXPOSE 8080
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/usr/local/bin/parlance", "health"]
ENTRYPOINT ["/usr/local/bin/parlance"]
CMD ["server"]
