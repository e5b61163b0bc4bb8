package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions/budget"
	"parlance.dev/parlance/sessions/fatigue"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// Bounds of a new session. Source: decisions, Tools and Sessions; the length of a user id is our
// own.
const (
	MaxUserIDChars   = 256
	MaxVariables     = 64
	MaxVariableBytes = 4096
	// maxAttempts bounds how often a creation is repeated because its agent was saved at the same
	// time.
	maxAttempts = 4
)

// CreateParams describes a new session.
type CreateParams struct {
	AgentID agents.ID
	UserID  string
	// Modality is Voice when it is empty.
	Modality Modality
	// DynamicVariables are at most MaxVariables, of at most MaxVariableBytes each. Names that begin
	// with system__ are refused. The values of names that begin with secret__ are sealed.
	DynamicVariables map[string]string
	// TTLSeconds is the life of the token. Nil is DefaultTTL; less than MinTTL is refused; more
	// than MaxTTL becomes MaxTTL.
	TTLSeconds *int
	// Overrides and VoiceStackOverride are values by key; see sessionOverrides and voiceOverrides.
	Overrides          map[string]json.RawMessage
	VoiceStackOverride map[string]json.RawMessage
	// Draft takes the settings of the agent's draft in place of the published ones.
	Draft bool
	// OnTelephone says that the session is a telephone call, of CallerID with CalledNumber. They
	// become variables: system__caller_id and system__called_number.
	OnTelephone            bool
	CallerID, CalledNumber string
	// CallReason is what a call is about that the agent makes; Outbound says that it is one.
	CallReason string
	Outbound   bool
	// BaseURL is the scheme and host by which the caller reached the service; empty is
	// Deps.PublicURL.
	BaseURL string
}

// Created is a new session with what only its creator gets.
type Created struct {
	Session Session
	Token   string
	// VoiceURL and ChatURL contain the token.
	VoiceURL string
	ChatURL  string
}

// Create stores a pending session and signs its token. It costs one round trip to the database when
// this process has the agent in its cache. Errors: NotFound (the agent), QuotaExceeded
// quota-exceeded-sessions, -usage or -budget, Invalid invalid-request, Invalid
// override-not-allowed; for a draft also NotFound agent-draft-not-found and Forbidden auth-scope.
func (s *Service) Create(ctx context.Context, p workspaces.Principal, params CreateParams) (Created, error) {
	ttl, err := checkCreate(&params)
	if err != nil {
		return Created{}, err
	}
	plan, err := s.planOf(ctx, p)
	if err != nil {
		return Created{}, err
	}
	if s.usage != nil {
		if err := s.usage.AdmitSession(ctx, p.TenantID, params.Modality != Text); err != nil {
			return Created{}, err
		}
	}
	if params.Draft {
		return s.createOfDraft(ctx, p, params, ttl, plan)
	}
	agent, cached, err := s.agents.FindCached(ctx, p, params.AgentID)
	for attempt := 0; err == nil; attempt++ {
		session, refused := s.create(ctx, settings{Agent: agent}, params, ttl, plan)
		if refused == nil {
			return s.withToken(ctx, session, params.BaseURL)
		}
		// The cached agent may be outdated (its version, its locks), and an agent that was just
		// read may have been saved again since.
		if !cached && (attempt > maxAttempts || !fault.IsReason(refused, fault.Conflict)) {
			return Created{}, refused
		}
		cached = false
		agent, err = s.agents.FindFresh(ctx, p, params.AgentID)
	}
	return Created{}, err
}

// createOfDraft stores a session with the settings of the agent's draft.
func (s *Service) createOfDraft(
	ctx context.Context, p workspaces.Principal, params CreateParams, ttl time.Duration, plan workspaces.Plan,
) (Created, error) {
	if err := p.Require(workspaces.ScopeOperator); err != nil {
		return Created{}, err
	}
	for attempt := 0; ; attempt++ {
		draft, err := s.agents.FindDraft(ctx, p, params.AgentID)
		if err != nil {
			return Created{}, err
		}
		session, err := s.create(ctx, settings{Agent: draft.Agent(), draftRevision: draft.Revision}, params, ttl, plan)
		if err == nil {
			return s.withToken(ctx, session, params.BaseURL)
		}
		if attempt > maxAttempts || !fault.IsReason(err, fault.Conflict) { // the draft may have been saved meanwhile
			return Created{}, err
		}
	}
}

// settings are what a session is made of: a version of an agent, or its draft.
type settings struct {
	agents.Agent

	// draftRevision is 0 for a version.
	draftRevision int
}

// planOf returns the caller's plan, which usually comes with its key.
func (s *Service) planOf(ctx context.Context, p workspaces.Principal) (workspaces.Plan, error) {
	if p.Plan != "" {
		return s.workspaces.PlanNamed(p.Plan), nil
	}
	return s.workspaces.Plan(ctx, p.TenantID)
}

// create stores a session with these settings, if the agent or its draft still has them.
func (s *Service) create(
	ctx context.Context, agent settings, params CreateParams, ttl time.Duration, plan workspaces.Plan,
) (Session, error) {
	config := agent.Config
	if err := applyOverrides(&config, params); err != nil {
		return Session{}, err
	}
	session, err := s.newSession(ctx, agent, config, params, ttl)
	if err != nil {
		return Session{}, err
	}
	admitted := false
	if err = s.refusal(ctx, session); err == nil {
		admitted, err = s.admit(ctx, session, plan)
	}
	if err == nil && admitted {
		return session, nil
	}
	// A repeated request makes the same id, see idgen.In. Its session may be what uses the limit up.
	if made, findErr := Find(ctx, s.db, session.TenantID, session.ID, ""); findErr == nil {
		return made, nil
	}
	if err != nil {
		return Session{}, err
	}
	open, err := CountOpen(ctx, s.db, session.TenantID, session.CreatedAt)
	if err != nil {
		return Session{}, err
	}
	if plan.ConcurrentSessions > 0 && open >= plan.ConcurrentSessions {
		full := fault.New(fault.QuotaSessions,
			"The plan %q allows %d sessions at once, and %d are open. End one, wait for one to end, or change the plan.",
			plan.Name, plan.ConcurrentSessions, open)
		full.Meta = map[string]string{"limit": strconv.Itoa(plan.ConcurrentSessions)}
		return Session{}, workspaces.Refuse(full, plan,
			s.workspaces.PlanWithMore(plan, func(p workspaces.Plan) int64 { return int64(p.ConcurrentSessions) }))
	}
	return Session{}, fault.New(fault.Conflict, "The agent was saved or another session ended at the same moment; send the request again.")
}

// refusal is why the agent's fatigue windows and budgets allow its user no further session; nil:
// they allow one.
func (s *Service) refusal(ctx context.Context, session Session) error {
	user := fatigue.User{Ref: session.Ref(), AgentID: session.AgentID, UserID: session.UserID}
	if err := fatigue.Refusal(ctx, s.db, user, session.Config.Fatigue, session.CreatedAt); err != nil {
		return err
	}
	spender := budget.Spender{Ref: session.Ref(), AgentID: session.AgentID, UserID: session.UserID}
	return budget.Refusal(ctx, s.db, spender, session.Config.Budgets, session.CreatedAt)
}

// admit stores the session if its agent still has the settings it was made from and the tenant's
// plan has room. New sessions of a limited tenant are counted one after the other, so that two
// cannot take the last place.
func (s *Service) admit(ctx context.Context, session Session, plan workspaces.Plan) (bool, error) {
	insert, err := admitSession(s.db, session, plan.ConcurrentSessions)
	if err != nil {
		return false, err
	}
	steps := []postgres.Step{{Statement: insert}}
	if plan.ConcurrentSessions > 0 {
		steps = []postgres.Step{s.db.Lock("sessions of " + string(session.TenantID)), {Statement: insert}}
	}
	changed, err := s.db.Pipeline(ctx, steps...)
	if err != nil {
		return false, fmt.Errorf("storing session: %w", err)
	}
	return changed[len(changed)-1] == 1, nil
}

// newSession returns the row of a new session. It seals the secret variables.
func (s *Service) newSession(
	ctx context.Context, agent settings, config agents.Config, params CreateParams, ttl time.Duration,
) (Session, error) {
	now := s.Now()
	session := Session{
		ID: ID(idgen.In(ctx, idgen.Session)), TenantID: agent.TenantID, WorkspaceID: agent.WorkspaceID,
		AgentID: agent.ID, AgentVersion: agent.Version, DraftRevision: agent.draftRevision, UserID: params.UserID,
		Modality: params.Modality, Status: Pending,
		Config: config, Overrides: map[string]json.RawMessage{}, VoiceStackOverride: map[string]json.RawMessage{},
		DynamicVariables: map[string]string{}, VariablesHash: hashVariables(params.DynamicVariables),
		TokenExpiresAt: now.Add(ttl), Language: config.Language,
		MaxDurationSeconds: max(1, int(config.MaxDuration()/time.Second)),
		IdleTimeoutSeconds: max(1, int(config.IdleTimeout(string(params.Modality))/time.Second)),
		CreatedAt:          now, LastActivityAt: now, OnTelephone: params.OnTelephone,
	}
	session.Sealed = session.KeepsNothing()
	maps.Copy(session.Overrides, params.Overrides)
	maps.Copy(session.VoiceStackOverride, params.VoiceStackOverride)
	secrets := map[string]string{}
	for name, value := range params.DynamicVariables {
		if strings.HasPrefix(name, tools.SecretPrefix) {
			secrets[name] = value
			continue
		}
		session.DynamicVariables[name] = value
	}
	if params.OnTelephone {
		session.DynamicVariables["system__caller_id"] = params.CallerID
		session.DynamicVariables["system__called_number"] = params.CalledNumber
		session.DynamicVariables[VariableCallDirection] = map[bool]string{true: CallOutbound, false: CallInbound}[params.Outbound]
		if params.CallReason != "" {
			session.DynamicVariables[VariableCallReason] = params.CallReason
		}
	}
	var err error
	if session.DynamicVariables, err = s.StoredVariables(ctx, session, session.DynamicVariables); err != nil || len(secrets) == 0 {
		return session, err
	}
	encoded, err := json.Marshal(secrets)
	if err != nil {
		return Session{}, fmt.Errorf("encoding secret variables: %w", err)
	}
	session.SecretVariables, err = s.seal.Seal(ctx, encoded, SecretsBinding(session))
	return session, err
}

// Rejoin returns a session that was created before as Create does, with the same expiry. No limit
// of new sessions is looked at, and the agent may be deleted. Errors: NotFound.
func (s *Service) Rejoin(ctx context.Context, p workspaces.Principal, id ID) (Created, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return Created{}, err
	}
	return s.withToken(ctx, session, "")
}

// withToken returns the session with its token and its addresses below baseURL; see CreateParams.
func (s *Service) withToken(ctx context.Context, session Session, baseURL string) (Created, error) {
	token, err := s.sign(ctx, session)
	if err != nil {
		return Created{}, err
	}
	base := strings.TrimRight(cmp.Or(baseURL, s.publicURL), "/")
	return Created{
		Session: session, Token: token,
		VoiceURL: socketURL(base, VoiceChannel, session.ID, token), ChatURL: socketURL(base, ChatChannel, session.ID, token),
	}, nil
}

// socketURL returns the address of a session's socket below base, with the token.
func socketURL(base string, channel Channel, id ID, token string) string {
	if rest, ok := strings.CutPrefix(base, "http"); ok { // http→ws, https→wss
		base = "ws" + rest
	}
	return base + "/v1/realtime/" + string(channel) + "/" + string(id) + "?token=" + url.QueryEscape(token)
}

// checkCreate checks the parameters, fills in defaults and returns the token's life.
func checkCreate(params *CreateParams) (ttl time.Duration, err error) {
	var fields []fault.Field
	add := func(field, code, format string, args ...any) {
		fields = append(fields, fault.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if !IsUserID(params.UserID) {
		add("user_id", "length", "user_id must have 1 to %d characters, not only spaces.", MaxUserIDChars)
	}
	switch params.Modality {
	case "":
		params.Modality = Voice
	case Voice, VoiceAndText, Text:
	default:
		add("modality", "in", "modality must be voice, voice+text or text.")
	}
	ttl = DefaultTTL
	if params.TTLSeconds != nil {
		if *params.TTLSeconds < int(MinTTL/time.Second) {
			add("ttl_seconds", "gte", "ttl_seconds must be at least %d.", int(MinTTL/time.Second))
		}
		ttl = time.Duration(min(*params.TTLSeconds, int(MaxTTL/time.Second))) * time.Second
	}
	fields = append(fields, variableFields(params.DynamicVariables)...)
	if len(fields) > 0 {
		return 0, fault.InvalidFields(fields...)
	}
	return ttl, nil
}

// IsUserID reports whether a session may have a user id: 1 to MaxUserIDChars characters of text,
// and not only spaces.
func IsUserID(id string) bool {
	return utf8.RuneCountInString(id) <= MaxUserIDChars && strings.TrimSpace(id) != "" && IsStorable(id)
}

// CheckVariables refuses dynamic variables that no session may have. Errors: Invalid
// invalid-request.
func CheckVariables(variables map[string]string) error {
	if fields := variableFields(variables); len(fields) > 0 {
		return fault.InvalidFields(fields...)
	}
	return nil
}

func variableFields(variables map[string]string) (fields []fault.Field) {
	add := func(field, code, format string, args ...any) {
		fields = append(fields, fault.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if len(variables) > MaxVariables {
		add("dynamic_variables", "max_pairs", "At most %d variables can be set.", MaxVariables)
	}
	for name, value := range variables {
		field := "dynamic_variables[" + strconv.Quote(name) + "]"
		switch {
		case !VariableName.MatchString(name):
			add(field, "name", "A variable's name begins with a letter or _ and goes on with letters, digits and _, at most 128 in all.")
		case strings.HasPrefix(name, tools.SystemPrefix):
			add(field, "reserved", "Names that begin with system__ are set by the service.")
		case len(value) > MaxVariableBytes || !IsStorable(value):
			add(field, "max_bytes", "A variable's value has at most %d bytes of text.", MaxVariableBytes)
		}
	}
	return fields
}
