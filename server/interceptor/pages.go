package interceptor

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

const (
	pageTokenField = "page_token"
	nextPageField  = "next_page_token"
	// pageMACBytes is how many bytes of HMAC-SHA256 precede the position in a token: nobody guesses
	// 128 bits.
	pageMACBytes = 16
	// maxPageToken is far above the length of any token of ours.
	maxPageToken = 8192
)

// unbound are the fields of a list's request that may change from page to page.
var unbound = []protoreflect.Name{pageTokenField, "page_size", "limit"}

// Pages authenticates the page tokens of every list. A caller gets the noun's own token behind a
// MAC over the list, the tenant and the filters, so a noun sees only tokens that it made for this
// very query. A list is a method whose request has page_token and whose response has
// next_page_token; a new one is covered without being named.
type Pages struct{ key []byte }

// NewPages makes a Pages. All servers must have the same key, of 32 bytes.
func NewPages(key []byte) *Pages { return &Pages{key: key} }

// Open puts the noun's token into the request of a list and returns what the list is bound to, for
// Seal. It returns nil for a request that is not a list's. Errors: Invalid invalid-request on
// page_token.
func (p *Pages) Open(ctx context.Context, procedure string, request proto.Message) (bound []byte, err error) {
	message := request.ProtoReflect()
	field := message.Descriptor().Fields().ByName(pageTokenField)
	if field == nil || field.Kind() != protoreflect.StringKind {
		return nil, nil
	}
	if bound, err = binding(workspaces.PrincipalFrom(ctx), procedure, request); err != nil {
		return nil, err
	}
	token := message.Get(field).String()
	if token == "" {
		return bound, nil
	}
	position, ok := p.parse(bound, token)
	if !ok {
		return nil, fault.InvalidField(pageTokenField, "invalid",
			"page_token must be next_page_token of the page before, sent with the same filters.")
	}
	message.Set(field, protoreflect.ValueOfString(position))
	return bound, nil
}

// Seal replaces the noun's token in the response of a list by the one for the caller.
func (p *Pages) Seal(bound []byte, response proto.Message) {
	if bound == nil {
		return
	}
	message := response.ProtoReflect()
	field := message.Descriptor().Fields().ByName(nextPageField)
	if field == nil || message.Get(field).String() == "" {
		return
	}
	message.Set(field, protoreflect.ValueOfString(p.token(bound, message.Get(field).String())))
}

func (p *Pages) token(bound []byte, position string) string {
	return base64.RawURLEncoding.EncodeToString(append(p.mac(bound, position), position...))
}

func (p *Pages) parse(bound []byte, token string) (position string, ok bool) {
	if len(token) > maxPageToken {
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) <= pageMACBytes {
		return "", false
	}
	position = string(raw[pageMACBytes:])
	return position, hmac.Equal(raw[:pageMACBytes], p.mac(bound, position))
}

func (p *Pages) mac(bound []byte, position string) []byte {
	digest := hmac.New(sha256.New, p.key)
	// A hash never returns an error.
	_, _ = digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(bound))))
	_, _ = digest.Write(bound)
	_, _ = digest.Write([]byte(position))
	return digest.Sum(nil)[:pageMACBytes]
}

// binding encodes the query that a list answers: the caller, the method and the filters.
func binding(caller workspaces.Principal, procedure string, request proto.Message) ([]byte, error) {
	filters := proto.Clone(request).ProtoReflect()
	for _, name := range unbound {
		if field := filters.Descriptor().Fields().ByName(name); field != nil {
			filters.Clear(field)
		}
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(filters.Interface())
	if err != nil {
		return nil, fmt.Errorf("encode the filters of %s: %w", procedure, err)
	}
	var bound []byte
	for _, part := range []string{"page 1", procedure, string(caller.TenantID), string(caller.WorkspaceID), string(encoded)} {
		bound = binary.AppendUvarint(bound, uint64(len(part)))
		bound = append(bound, part...)
	}
	return bound, nil
}
