// Package azure calls models that are deployed at Azure OpenAI (Azure AI Foundry).
//
// The API is OpenAI's chat completions, which package openai implements. This package sets what
// differs: the URL of a deployment, the api-version, and the header of the key. Azure has two
// interfaces:
//
//	v1     POST https://RESOURCE.openai.azure.com/openai/v1/chat/completions
//	dated  POST https://RESOURCE.openai.azure.com/openai/deployments/NAME/chat/completions
//	       ?api-version=2024-10-21
//
// An api-version, in the configuration or in the base URL, chooses the dated one. A base URL may be
// the resource's endpoint, one that ends in /openai or /openai/v1, or the whole target URI that
// Azure's portal shows for a deployment.
//
// Answers of Azure differ in what they say about content: a first chunk without choices, a prompt
// that its filter refuses (400 content_filter), an answer that it stops. Microsoft Entra is not
// supported: a key is required. Embeddings need no adapter: the v1 interface takes the key as
// OpenAI's does, so PARLANCE_EMBEDDING_BASE_URL may end in /openai/v1.
package azure
