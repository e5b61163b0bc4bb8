package sessions

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/workspaces"
)

// maxTokenBytes is far larger than any token of ours.
const maxTokenBytes = 4096

const issuer = "parlance"

// claims are the contents of a token; the subject is the session.
type claims struct {
	jwt.RegisteredClaims
	TenantID    workspaces.TenantID `json:"tid"`
	WorkspaceID workspaces.ID       `json:"wid"`
	AgentID     agents.ID           `json:"aid"`
	UserID      string              `json:"uid"`
	Modality    Modality            `json:"mod"`
	// VariablesHash binds the token to the session's dynamic variables.
	VariablesHash string `json:"vars"`
}

// sign returns the session's token.
func (s *Service) sign(ctx context.Context, session Session) (string, error) {
	kid, key, err := s.keys.Signer(ctx, session.CreatedAt)
	if err != nil {
		return "", err
	}
	return mintToken(session, kid, key)
}

// mintToken signs the token of a session with a key.
func mintToken(session Session, kid string, key ed25519.PrivateKey) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Subject: string(session.ID),
			IssuedAt: jwt.NewNumericDate(session.CreatedAt), ExpiresAt: jwt.NewNumericDate(session.TokenExpiresAt),
		},
		TenantID: session.TenantID, WorkspaceID: session.WorkspaceID, AgentID: session.AgentID,
		UserID: session.UserID, Modality: session.Modality, VariablesHash: session.VariablesHash,
	})
	token.Header["kid"] = kid
	signed, err := token.SignedString(key)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return signed, nil
}

// errToken is the one error for every bad token: it does not say what is wrong with it.
func errToken(cause error) error {
	return fault.Wrap(cause, fault.SessionTokenInvalid, "The session token is missing, changed, expired or another session's. "+
		"Create a session and use the URL of its answer.")
}

var (
	errTokenShape   = errors.New("the token was not issued here")
	errTokenKey     = errors.New("the token is signed with an unknown key")
	errTokenSession = errors.New("the token does not belong to the session")
	errTokenExpired = errors.New("the token has expired")
)

// parse checks a token's signature and shape, but not its expiry.
func (s *Service) parse(ctx context.Context, token string) (claims, error) {
	return readToken(token, func(kid string) (ed25519.PublicKey, bool, error) { return s.keys.Verifier(ctx, kid, s.Now()) })
}

// readToken is parse with the keys of verifier.
func readToken(token string, verifier func(kid string) (ed25519.PublicKey, bool, error)) (claims, error) {
	if token == "" || len(token) > maxTokenBytes || strings.ContainsAny(token, "\r\n") { // the decoder of base64 skips line ends
		return claims{}, errToken(errTokenShape)
	}
	var (
		said   claims
		reason error
	)
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())
	_, err := parser.ParseWithClaims(token, &said, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		key, ok, err := verifier(kid)
		if err != nil {
			reason = err // an error of the database, not of the token
			return nil, err
		}
		if !ok {
			return nil, errTokenKey
		}
		return key, nil
	})
	if reason != nil {
		return claims{}, reason
	}
	if err != nil {
		return claims{}, errToken(err)
	}
	if said.Issuer != issuer || said.ExpiresAt == nil || !idgen.Valid(idgen.Session, said.Subject) {
		return claims{}, errToken(errTokenShape)
	}
	return said, nil
}

// Verify returns the session that the holder of a token may join. sessionID, when it is not empty,
// must be that session. Errors: Unauthenticated session-token-invalid, Precondition session-closed.
func (s *Service) Verify(ctx context.Context, token string, sessionID ID) (Session, error) {
	session, err := s.sessionOfToken(ctx, token, sessionID)
	if err != nil {
		return Session{}, err
	}
	return session, ClosedError(session)
}

// sessionOfToken returns the session of a token, open or closed. A client that comes back may use
// an expired token while the session is in progress and has a socket, or lost its last one within
// DropGrace. Errors: Unauthenticated session-token-invalid.
func (s *Service) sessionOfToken(ctx context.Context, token string, sessionID ID) (Session, error) {
	said, err := s.parse(ctx, token)
	if err != nil {
		return Session{}, err
	}
	if sessionID != "" && said.Subject != string(sessionID) {
		return Session{}, errToken(errTokenSession)
	}
	session, err := Find(ctx, s.db, said.TenantID, ID(said.Subject), "")
	if fault.IsReason(err, fault.ResourceNotFound) {
		return Session{}, errToken(err)
	}
	if err != nil {
		return Session{}, err
	}
	if said.WorkspaceID != session.WorkspaceID || said.AgentID != session.AgentID || said.UserID != session.UserID ||
		said.Modality != session.Modality || said.VariablesHash != session.VariablesHash {
		return Session{}, errToken(errTokenSession)
	}
	if s.Now().Before(session.TokenExpiresAt) { // exp is this time, cut to the second
		return session, nil
	}
	returning, err := s.mayReturn(ctx, session)
	if err != nil {
		return Session{}, err
	}
	if !returning {
		return Session{}, errToken(errTokenExpired)
	}
	return session, nil
}

// mayReturn reports whether the session has a socket or waits for one.
func (s *Service) mayReturn(ctx context.Context, session Session) (bool, error) {
	if session.Status != InProgress {
		return false, nil
	}
	if !session.DroppedAt.IsZero() {
		return s.Now().Sub(session.DroppedAt) <= DropGrace, nil
	}
	// The node may not have noticed yet that the connection is lost.
	open, err := countConnections(ctx, s.db, session.TenantID, session.ID)
	return open > 0, err
}

// Authenticate returns the principal of a session's token, which may use that session only. The
// session may be closed: its turns can still be read and followed, and operations that need an open
// session check that themselves. Errors: Unauthenticated session-token-invalid.
func (s *Service) Authenticate(ctx context.Context, token string) (workspaces.Principal, error) {
	session, err := s.sessionOfToken(ctx, token, "")
	if err != nil {
		return workspaces.Principal{}, err
	}
	return workspaces.Principal{
		TenantID: session.TenantID, WorkspaceID: session.WorkspaceID, Scope: workspaces.ScopeRuntime, SessionID: string(session.ID),
	}, nil
}
