package interceptor_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/workspaces"
)

// FuzzPages: a token that was not made for this very list, tenant and filters is never taken, and
// one that was led back to its place.
func FuzzPages(f *testing.F) {
	const procedure = "/parlance.v1.AgentService/ListAgents"
	pages := interceptor.NewPages(bytes.Repeat([]byte{7}, 32))
	tenant := func(id string) workspaces.Principal { return workspaces.Principal{TenantID: workspaces.TenantID(id)} }
	for _, seed := range []string{
		"", "x", "MTIz", "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA", "\xff",
		"%00", "eyJ0IjoxLCJpIjoieCIsImMiOiJ5In0",
	} {
		f.Add(seed, "place")
	}
	f.Fuzz(func(t *testing.T, token, place string) {
		ctx := workspaces.WithPrincipal(t.Context(), tenant("ten_1"))
		forged := &parlancev1.ListAgentsRequest{WorkspaceId: "ws_1", PageToken: token}
		if _, err := pages.Open(ctx, procedure, forged); err == nil && token != "" {
			t.Fatalf("%q was taken as %q", token, forged.GetPageToken())
		}
		if place == "" || len(place) > 500 || !utf8.ValidString(place) {
			return
		}
		asked := &parlancev1.ListAgentsRequest{WorkspaceId: "ws_1"}
		bound, err := pages.Open(ctx, procedure, asked)
		if err != nil {
			t.Fatal(err)
		}
		answer := &parlancev1.ListAgentsResponse{NextPageToken: place}
		pages.Seal(bound, answer)
		made := answer.GetNextPageToken()
		next := &parlancev1.ListAgentsRequest{WorkspaceId: "ws_1", PageSize: 7, PageToken: made}
		if _, err := pages.Open(ctx, procedure, next); err != nil || next.GetPageToken() != place {
			t.Fatalf("%q came back as %q, %v", place, next.GetPageToken(), err)
		}
		elsewhere := workspaces.WithPrincipal(t.Context(), tenant("ten_2"))
		for name, refused := range map[string]func() error{
			"another tenant": func() error {
				_, err := pages.Open(elsewhere, procedure, &parlancev1.ListAgentsRequest{WorkspaceId: "ws_1", PageToken: made})
				return err
			},
			"another workspace": func() error {
				_, err := pages.Open(ctx, procedure, &parlancev1.ListAgentsRequest{WorkspaceId: "ws_2", PageToken: made})
				return err
			},
			"another list": func() error {
				_, err := pages.Open(ctx, procedure+"2", &parlancev1.ListAgentsRequest{WorkspaceId: "ws_1", PageToken: made})
				return err
			},
		} {
			if refused() == nil {
				t.Fatalf("%q is taken by %s", made, name)
			}
		}
	})
}

// FuzzMessageLimit: however a body of envelopes is cut into reads, it is passed on whole, or
// refused where an envelope announces too much.
func FuzzMessageLimit(f *testing.F) {
	envelope := func(size uint32, content string) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{0}, size), content...)
	}
	f.Add([]byte{}, true)
	f.Add(envelope(3, "abc"), true)
	f.Add(append(envelope(3, "abc"), envelope(0, "")...), true)
	f.Add(envelope(17, "abc"), true)
	f.Add(append(envelope(1, "a"), envelope(1<<31, "b")...), true)
	f.Add([]byte("0123456789abcdef0"), false)
	f.Fuzz(func(t *testing.T, body []byte, enveloped bool) {
		const limit = 16
		read := func(from io.Reader) (got []byte, err error) {
			kind := "application/proto"
			if enveloped {
				kind = "application/grpc"
			}
			request := httptest.NewRequest(http.MethodPost, "/x", from)
			request.Header.Set("Content-Type", kind)
			interceptor.WithMessageLimit(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got, err = io.ReadAll(r.Body)
			}), limit).ServeHTTP(httptest.NewRecorder(), request)
			return got, err
		}
		tooLarge := len(body) > limit
		if enveloped {
			tooLarge = false
			for rest := body; len(rest) >= 5 && !tooLarge; {
				size := int64(binary.BigEndian.Uint32(rest[1:]))
				tooLarge = size > limit
				rest = rest[min(5+size, int64(len(rest))):]
			}
		}
		for name, from := range map[string]io.Reader{
			"whole": bytes.NewReader(body),
			"bytes": iotest.OneByteReader(bytes.NewReader(body)), "halves": iotest.HalfReader(bytes.NewReader(body)),
		} {
			got, err := read(struct{ io.Reader }{from})
			if (err != nil) != tooLarge {
				t.Fatalf("%s: %v, too large: %v", name, err, tooLarge)
			}
			if err == nil && !bytes.Equal(got, body) {
				t.Fatalf("%s: %q became %q", name, body, got)
			}
		}
	})
}
