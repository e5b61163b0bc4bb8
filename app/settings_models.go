package app

import (
	"time"

	"parlance.dev/parlance/platform/seal"
)

// modelSettings are those of what answers, embeds and ranks.
func modelSettings() []Setting {
	return []Setting{
		{
			Group: "Models", Name: "MODEL_BASE_URL", Help: "OpenAI-compatible server that answers, ending in /v1. Default: " +
				"OpenAI's, once a key is set.",
			apply: intoURL(func(c *Config) *string { return &c.Model.BaseURL }, "http", "https"),
		},
		{
			Group: "Models", Name: "MODEL_API_KEY", Aliases: []string{"OPENAI_API_KEY"}, Help: "Its API key; local servers need none.", Secret: true,
			apply: func(c *Config, v string) error { c.Model.APIKey = seal.Secret(v); return nil },
		},
		{
			Group: "Models", Name: "MODEL_NAME", Help: "Name of the model. Default: gpt-4.1-mini at OpenAI, claude-sonnet-4-5 at Anthropic.",
			apply: intoString(func(c *Config) *string { return &c.Model.Name }),
		},
		{
			Group: "Models", Name: "MODEL_PRICES_FILE", Help: "JSON file of what models cost, for the receipts of turns; " +
				"docs/receipts.md has an example. Default: costs are not known.",
			apply: intoString(func(c *Config) *string { return &c.ModelPricesFile }),
		},
		{
			Group: "Models", Name: "ANTHROPIC_API_KEY", Aliases: []string{"ANTHROPIC_API_KEY"}, Help: "API key of Anthropic; " +
				"used when no OpenAI-compatible model and no Azure resource is set.", Secret: true,
			apply: func(c *Config, v string) error { c.AnthropicAPIKey = seal.Secret(v); return nil },
		},
		{
			Group: "Models", Name: "ANTHROPIC_BASE_URL", Help: "Server of the Anthropic messages API, for proxies.",
			apply: intoURL(func(c *Config) *string { return &c.AnthropicBaseURL }, "http", "https"),
		},
		{
			Group: "Models", Name: "AZURE_BASE_URL", Aliases: []string{"AZURE_OPENAI_ENDPOINT"}, Help: "Resource of Azure " +
				"OpenAI (https://NAME.openai.azure.com), or a deployment's target URI; used when no OpenAI-compatible model is " +
				"set. Agents choose it as provider azure, with the deployment as name.",
			apply: intoURL(func(c *Config) *string { return &c.Azure.BaseURL }, "http", "https"),
		},
		{
			Group: "Models", Name: "AZURE_API_KEY", Aliases: []string{"AZURE_OPENAI_API_KEY"}, Help: "Its API key.", Secret: true,
			apply: func(c *Config, v string) error { c.Azure.APIKey = seal.Secret(v); return nil },
		},
		{
			Group: "Models", Name: "AZURE_API_VERSION", Help: "Date of Azure's interface, as in 2024-10-21. Default: the one " +
				"in AZURE_BASE_URL, else the v1 interface, which has none.",
			apply: intoString(func(c *Config) *string { return &c.Azure.APIVersion }),
		},
		{
			Group: "Models", Name: "AZURE_DEPLOYMENT", Help: "Deployment that answers for agents that name none. Default: the " +
				"one in AZURE_BASE_URL, else MODEL_NAME.",
			apply: intoString(func(c *Config) *string { return &c.Azure.Deployment }),
		},
		{
			Group: "Models", Name: "MODEL_FIRST_TOKEN_TIMEOUT", Default: "30s", Help: "Longest wait for the first token of an " +
				"answer, as a duration; then the agent's next model is asked.",
			apply: intoDuration(func(c *Config) *time.Duration { return &c.ModelTimeouts.FirstToken }),
		},
		{
			Group: "Models", Name: "MODEL_STALL_TIMEOUT", Default: "30s", Help: "Longest silence in the middle of an answer, " +
				"as a duration; the turn then fails and keeps what was said.",
			apply: intoDuration(func(c *Config) *time.Duration { return &c.ModelTimeouts.BetweenTokens }),
		},
		{
			Group: "Models", Name: "MODEL_ANSWER_TIMEOUT", Default: "5m", Help: "Longest time to the end of one answer, as a duration.",
			apply: intoDuration(func(c *Config) *time.Duration { return &c.ModelTimeouts.Whole }),
		},
		{
			Group: "Models", Name: "EMBEDDING_BASE_URL", Help: "OpenAI-compatible embeddings server, ending in /v1. Default: " +
				"the built-in lexical embedder.",
			apply: intoURL(func(c *Config) *string { return &c.Embedding.BaseURL }, "http", "https"),
		},
		{
			Group: "Models", Name: "EMBEDDING_API_KEY", Help: "Its API key.", Secret: true,
			apply: func(c *Config, v string) error { c.Embedding.APIKey = seal.Secret(v); return nil },
		},
		{
			Group: "Models", Name: "EMBEDDING_NAME", Help: "Name of the embedding model; needed with EMBEDDING_BASE_URL.",
			apply: intoString(func(c *Config) *string { return &c.Embedding.Name }),
		},
		{
			Group: "Models", Name: "EMBEDDING_QUERY_PREFIX", Help: "Text before each question. Default: what the model's " +
				"makers ask for, where its name is known (e5, nomic, bge, mxbai, arctic, qwen3, embeddinggemma); none for nothing.",
			apply: intoString(func(c *Config) *string { return &c.Embedding.Prefixes.Query }),
		},
		{
			Group: "Models", Name: "EMBEDDING_DOCUMENT_PREFIX", Help: "The same before each passage; a change embeds all sources again.",
			apply: intoString(func(c *Config) *string { return &c.Embedding.Prefixes.Document }),
		},
		{
			Group: "Models", Name: "EMBEDDING_DIMENSIONS", Help: "Length of the vectors that is asked for, of models that have " +
				"several; a change embeds all sources again. Default: the model's own.",
			apply: intoInt(func(c *Config) *int { return &c.Embedding.Dimensions }, 1, 16000),
		},
		{
			Group: "Models", Name: "EMBEDDING_FLOOR", Help: "Similarity, from 0 to 1, under which a passage is not used in " +
				"conversations unless the agent says otherwise. Default: none with a server, 0.15 with the built-in embedder.",
			apply: intoRatio(func(c *Config) *float64 { return &c.Embedding.Floor }),
		},
		{
			Group: "Models", Name: "RERANK_BASE_URL", Help: "Server of POST …/rerank (Jina, Cohere, vLLM, Infinity, LocalAI), " +
				"usually ending in /v1: it orders the best 30 passages anew for agents and queries that say so. Default: none.",
			apply: intoURL(func(c *Config) *string { return &c.Rerank.BaseURL }, "http", "https"),
		},
		{
			Group: "Models", Name: "RERANK_API_KEY", Help: "Its API key.", Secret: true,
			apply: func(c *Config, v string) error { c.Rerank.APIKey = seal.Secret(v); return nil },
		},
		{
			Group: "Models", Name: "RERANK_NAME", Help: "Name of the reranking model; needed with RERANK_BASE_URL.",
			apply: intoString(func(c *Config) *string { return &c.Rerank.Name }),
		},
		{
			Group: "Models", Name: "EMBEDDING_PREVIOUS_BASE_URL", Help: "The embeddings server before this one: it answers " +
				"until the sources are embedded anew. Without it what the former model embedded is not found until then.",
			apply: intoURL(func(c *Config) *string { return &c.EmbeddingPrevious.BaseURL }, "http", "https"),
		},
		{
			Group: "Models", Name: "EMBEDDING_PREVIOUS_API_KEY", Help: "Its API key.", Secret: true,
			apply: func(c *Config, v string) error { c.EmbeddingPrevious.APIKey = seal.Secret(v); return nil },
		},
		{
			Group: "Models", Name: "EMBEDDING_PREVIOUS_NAME", Help: "Name of the model before.",
			apply: intoString(func(c *Config) *string { return &c.EmbeddingPrevious.Name }),
		},
		{
			Group: "Models", Name: "EMBEDDING_PREVIOUS_DIMENSIONS", Help: "Its EMBEDDING_DIMENSIONS, if that was set.",
			apply: intoInt(func(c *Config) *int { return &c.EmbeddingPrevious.Dimensions }, 1, 16000),
		},
	}
}
