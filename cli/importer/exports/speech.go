package exports

import (
	"google.golang.org/protobuf/types/known/structpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// SpeechParts are the parts of speech: stt hears, and tts speaks.
var SpeechParts = []string{"stt", "tts"}

// provides notes a member that names the provider, model or voice of a part of speech.
func (b *builder) provides(part string, members ...node) {
	for _, member := range members {
		if member.exists() {
			b.speech[part] = append(b.speech[part], member)
		}
	}
}

func speechOf(voice *parlancev1.AgentVoice, part string) *structpb.Struct {
	if part == "stt" {
		return voice.GetStt()
	}
	return voice.GetTts()
}

// SpeechProvider is the provider of a part of speech that a voice names; empty when it names none.
func SpeechProvider(voice *parlancev1.AgentVoice, part string) string {
	return speechOf(voice, part).GetFields()["provider"].GetStringValue()
}

// LeaveSpeech leaves the provider, model and voice of a part of an agent's speech to the
// installation, which may not have that provider. Other settings stay.
func (p *Plan) LeaveSpeech(agent *Agent, part, why string) {
	fields := speechOf(agent.Want.GetVoice(), part).GetFields()
	for _, name := range []string{"provider", "model", "voice"} {
		delete(fields, name)
	}
	left := map[string]bool{}
	for _, member := range agent.speech[part] {
		left[member.tree.file+"\x00"+member.path] = true
	}
	for i, row := range p.Rows {
		if left[row.File+"\x00"+row.Path] && row.Kind == Mapped {
			p.Rows[i].Kind, p.Rows[i].To, p.Rows[i].Why = Lost, "", why
		}
	}
}
