// Package azure answers with models that are deployed at Azure OpenAI (Azure AI Foundry).
//
// The wire is OpenAI's chat completions, which package openai speaks; here is what differs: where a
// deployment is asked, the api-version, the key's header. Two of Azure's interfaces are known:
//
//	v1 (no api-version)   POST https://RESOURCE.openai.azure.com/openai/v1/chat/completions
//	dated                 POST https://RESOURCE.openai.azure.com/openai/deployments/NAME/chat/completions?api-version=2024-10-21
//
// An api-version, in the configuration or in the base URL, chooses the dated one. A base URL may be
// the resource's endpoint, one that ends in /openai or /openai/v1, or the whole target URI that
// Azure's portal shows for a deployment.
//
// What Azure says about content is read where OpenAI has nothing of the kind: a first chunk without
// choices, a prompt that its filter refuses (400 content_filter), an answer that it stops. Sign-in
// with Microsoft Entra is not there: a key is needed. Embeddings need no adapter: the v1 interface
// takes the key as OpenAI's does, so PARLANCE_EMBEDDING_BASE_URL may end in /openai/v1.
package azure
