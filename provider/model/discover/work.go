package discover

import (
	"slices"
	"strings"
)

// work is what a model does.
type work uint8

const (
	other work = iota
	chats
	embeds
	transcribes
	speaks
)

// served is a model and what its server says of it: its kind or family, and what it can do.
type served struct {
	name, kind   string
	capabilities []string
}

// Parts of the names and kinds of models. notEmbedding comes first: rerankers, and models that give
// a vector for each word, are named after the embedders they were made of.
var (
	notEmbedding = []string{"rerank", "cross-encoder", "ms-marco", "colbert", "colpali", "splade", "clip-", "siglip"}
	embedding    = []string{"embed", "bge-", "e5-", "gte-", "minilm", "mpnet", "labse", "sentence-t", "paraphrase-"}
	hearing      = []string{"whisper", "automatic-speech-recognition", "parakeet", "moonshine", "transcribe"}
	speaking     = []string{"text-to-speech", "tts", "kokoro", "piper"}
	notChat      = []string{"bert", "sentence-", "stable-diffusion", "flux", "moderation", "guard"}
)

// embeddingFamilies are those that Ollama names for models that embed.
var embeddingFamilies = []string{"bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2"}

// work tells what a model does, by its capabilities where the server lists them, else by its kind
// and name. A model of which nothing is known chats. One that its server and its name describe
// differently does neither.
func (m served) work() work {
	text := strings.ToLower(m.name + " " + m.kind)
	named := hasPart(text, embedding) || slices.Contains(embeddingFamilies, strings.ToLower(m.kind))
	told := len(m.capabilities) > 0
	switch {
	case m.name == "" || hasPart(text, notEmbedding):
		return other
	case told && slices.Contains(m.capabilities, "embedding"), !told && named:
		return embeds
	case told && !slices.Contains(m.capabilities, "completion"), named:
		return other
	case hasPart(text, hearing):
		return transcribes
	case hasPart(text, speaking):
		return speaks
	case hasPart(text, notChat):
		return other
	}
	return chats
}

func hasPart(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
