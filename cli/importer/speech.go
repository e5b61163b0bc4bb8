package importer

import (
	"context"
	"fmt"
	"strings"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/importer/exports"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/stablejson"
)

const (
	leftSpeech   = "The workspace is not known to have a credential for this provider, so the agent has what the installation has."
	noCredential = "the workspace has no credential for it"
	notSeen      = "this key may not see whether the workspace has a credential for it (scope admin)"
)

// speechNames say what a part of speech does, and the setting that gives an installation one.
var speechNames = map[string]struct{ does, setting string }{
	"stt": {"hears", "PARLANCE_STT_PROVIDER"},
	"tts": {"speaks", "PARLANCE_TTS_PROVIDER"},
}

// leaveSpeech leaves speech to the installation where an agent of the export names a provider that
// the workspace has no credential for: an agent whose provider is not there hears and says nothing.
// Which providers the installation has, the API does not say. What is left out is left to do.
func (m *maker) leaveSpeech(ctx context.Context) {
	has, why := m.providers(ctx)
	for i, agent := range m.plan.Agents {
		var left []string
		for _, part := range exports.SpeechParts {
			provider := exports.SpeechProvider(agent.Want.GetVoice(), part)
			isDone := m.known[i].agent != nil && exports.SpeechProvider(m.known[i].agent.GetVoice(), part) == provider
			if provider != "" && !m.keepSpeech && !isDone && !has[part+" "+provider] {
				left = append(left, part)
			}
		}
		if len(left) > 0 {
			agent.Todos = append(agent.Todos, speechTodo(agent, left, why))
		}
		for _, part := range left {
			m.plan.LeaveSpeech(agent, part, leftSpeech)
		}
		if model := agent.Want.GetModel(); model.GetProvider() != "" && !has["model "+model.GetProvider()] {
			agent.Todos = append(agent.Todos, modelTodo(model, why))
		}
	}
}

// providers are those that the workspace has credentials for, as "tts elevenlabs". why says why
// another is not among them.
func (m *maker) providers(ctx context.Context) (has map[string]bool, why string) {
	list, err := command.All(func(token string) ([]*parlancev1.ProviderCredential, string, error) {
		page, err := m.credentials.ListProviderCredentials(ctx, &parlancev1.ListProviderCredentialsRequest{
			WorkspaceId: m.WorkspaceID, PageSize: client.PageSize, PageToken: token,
		})
		return page.GetProviderCredentials(), page.GetNextPageToken(), err
	})
	if err != nil {
		return nil, notSeen
	}
	has = map[string]bool{}
	for _, one := range list {
		has[one.GetKind()+" "+one.GetProvider()] = true
	}
	return has, noCredential
}

// speechTodo says how an agent gets its providers of parts of speech back.
func speechTodo(agent *exports.Agent, parts []string, why string) exports.Todo {
	var does, settings []string
	for _, part := range parts {
		provider := exports.SpeechProvider(agent.Want.GetVoice(), part)
		does = append(does, fmt.Sprintf("%s with what the installation has, and not with %s", speechNames[part].does, provider))
		settings = append(settings, speechNames[part].setting+"="+provider)
	}
	todo := exports.Todo{What: fmt.Sprintf("The agent %s as before: %s. Give the workspace credentials (of the kind %s), or set %s for the "+
		"installation; then change the agent, without what is still not there. --keep-speech keeps them for new agents",
		strings.Join(does, ", and "), why, strings.Join(parts, " and "), strings.Join(settings, " and "))}
	if text, err := stablejson.Marshal(agent.Want.GetVoice()); err == nil {
		todo.Command = "echo " + shellWord(`{"voice": `+string(text)+`}`) + " | parlance agents update " + exports.AgentPlaceholder + " --file -"
	}
	return todo
}

// modelTodo says that a model may not be there.
func modelTodo(model *parlancev1.AgentModel, why string) exports.Todo {
	return exports.Todo{What: fmt.Sprintf("See whether the installation has the provider %s, which answers with %s: %s. "+
		"--no-model leaves the model of new agents to the installation",
		model.GetProvider(), strings.TrimSpace(model.GetName()), why)}
}

// foresee says in a dry run which providers of speech are needed.
func foresee(plan *exports.Plan, keep bool) {
	for _, agent := range plan.Agents {
		for _, part := range exports.SpeechParts {
			provider := exports.SpeechProvider(agent.Want.GetVoice(), part)
			if provider == "" || keep {
				continue
			}
			name := speechNames[part]
			agent.Todos = append(agent.Todos, exports.Todo{What: fmt.Sprintf("The agent %s with %s. Give the workspace a credential for it "+
				"(kind %s) before the import, or add --keep-speech when the installation has it (%s); else what the installation has takes "+
				"its place", name.does, provider, part, name.setting)})
		}
	}
}
