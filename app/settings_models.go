package app

// modelSettings lists the settings of models, embedders and rerankers.
func (c *Config) modelSettings() []Setting {
	return group("Models",
		setting("MODEL_BASE_URL", "", address(&c.Model.BaseURL, "http", "https"),
			"OpenAI-compatible server that answers, ending in /v1. Default: that of OpenAI, if a key is set."),
		setting("MODEL_API_KEY", "", text(&c.Model.APIKey),
			"Its API key; local servers need none.").secret().alias("OPENAI_API_KEY"),
		setting("MODEL_NAME", "", text(&c.Model.Name),
			"Name of the model. Default: gpt-4.1-mini at OpenAI, claude-sonnet-4-5 at Anthropic."),
		setting("MODEL_PRICES_FILE", "", text(&c.ModelPricesFile),
			"JSON file with the prices of models, for the receipts of turns; docs/receipts.md has an example. Default: "+
				"costs are unknown."),
		setting("ANTHROPIC_API_KEY", "", text(&c.AnthropicAPIKey),
			"API key of Anthropic; used when no OpenAI-compatible model and no Azure resource is set.").secret().alias("ANTHROPIC_API_KEY"),
		setting("ANTHROPIC_BASE_URL", "", address(&c.AnthropicBaseURL, "http", "https"),
			"Server of the Anthropic messages API, for proxies."),
		setting("AZURE_BASE_URL", "", address(&c.Azure.BaseURL, "http", "https"),
			"Resource of Azure OpenAI (https://NAME.openai.azure.com), or a deployment's target URI; used when no "+
				"OpenAI-compatible model is set. Agents choose it as provider azure, with the deployment as name.").alias("AZURE_OPENAI_ENDPOINT"),
		setting("AZURE_API_KEY", "", text(&c.Azure.APIKey), "Its API key.").secret().alias("AZURE_OPENAI_API_KEY"),
		setting("AZURE_API_VERSION", "", text(&c.Azure.APIVersion),
			"Date of Azure's interface, as in 2024-10-21. Default: the one in AZURE_BASE_URL, else the v1 interface, which "+
				"has none."),
		setting("AZURE_DEPLOYMENT", "", text(&c.Azure.Deployment),
			"Deployment that answers for agents that name none. Default: the one in AZURE_BASE_URL, else MODEL_NAME."),
		setting("MODEL_FIRST_TOKEN_TIMEOUT", "30s", wait(&c.ModelTimeouts.FirstToken),
			"Longest wait for the first token of an answer, as a duration; then the agent's next model is asked."),
		setting("MODEL_STALL_TIMEOUT", "30s", wait(&c.ModelTimeouts.BetweenTokens),
			"Longest pause within an answer, as a duration; the turn then fails and keeps what was answered."),
		setting("MODEL_ANSWER_TIMEOUT", "5m", wait(&c.ModelTimeouts.Whole),
			"Longest time to the end of one answer, as a duration."),
		setting("EMBEDDING_BASE_URL", "", address(&c.Embedding.BaseURL, "http", "https"),
			"OpenAI-compatible embeddings server, ending in /v1. Default: the built-in lexical embedder."),
		setting("EMBEDDING_API_KEY", "", text(&c.Embedding.APIKey), "Its API key.").secret(),
		setting("EMBEDDING_NAME", "", text(&c.Embedding.Name),
			"Name of the embedding model; needed with EMBEDDING_BASE_URL."),
		setting("EMBEDDING_QUERY_PREFIX", "", text(&c.Embedding.Prefixes.Query),
			"Text before each question. Default: what the makers of known models ask for (e5, nomic, bge, mxbai, arctic, "+
				"qwen3, embeddinggemma). The value none means no prefix."),
		setting("EMBEDDING_DOCUMENT_PREFIX", "", text(&c.Embedding.Prefixes.Document),
			"The same before each passage; a change embeds all sources again."),
		setting("EMBEDDING_DIMENSIONS", "", number(&c.Embedding.Dimensions, 1, 16000),
			"Length of the vectors to request, for models that offer several; a change embeds all sources again. Default: "+
				"the model's own."),
		setting("EMBEDDING_FLOOR", "", ratio(&c.Embedding.Floor),
			"Lowest similarity, from 0 to 1, of passages that are used in conversations, unless the agent sets another. "+
				"Default: none with a server, 0.15 with the built-in embedder."),
		setting("RERANK_BASE_URL", "", address(&c.Rerank.BaseURL, "http", "https"),
			"Server of POST …/rerank (Jina, Cohere, vLLM, Infinity, LocalAI, text-embeddings-inference), usually ending in "+
				"/v1, which the last has not. It reorders the best 30 passages for agents and queries that ask for it. Default: "+
				"none."),
		setting("RERANK_API_KEY", "", text(&c.Rerank.APIKey), "Its API key.").secret(),
		setting("RERANK_NAME", "", text(&c.Rerank.Name), "Name of the reranking model; needed with RERANK_BASE_URL."),
		setting("EMBEDDING_PREVIOUS_BASE_URL", "", address(&c.EmbeddingPrevious.BaseURL, "http", "https"),
			"The embeddings server before this one. It answers until the sources are embedded again; without it, sources "+
				"that the former model embedded are not found until then."),
		setting("EMBEDDING_PREVIOUS_API_KEY", "", text(&c.EmbeddingPrevious.APIKey), "Its API key.").secret(),
		setting("EMBEDDING_PREVIOUS_NAME", "", text(&c.EmbeddingPrevious.Name), "Name of the former model."),
		setting("EMBEDDING_PREVIOUS_DIMENSIONS", "", number(&c.EmbeddingPrevious.Dimensions, 1, 16000),
			"Its EMBEDDING_DIMENSIONS, if that was set."),
	)
}
