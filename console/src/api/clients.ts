// The typed clients of the API, one for each service of the contract.

import { createClient } from '@connectrpc/connect';

import { AgentService } from '#gen/agents_pb';
import { AuditService } from '#gen/audit_pb';
import { BillingService } from '#gen/billing_pb';
import { CallbackService } from '#gen/callbacks_pb';
import { ProviderCredentialService } from '#gen/credentials_pb';
import { InsightService } from '#gen/insights_pb';
import { KnowledgeService } from '#gen/knowledge_pb';
import { MemoryService } from '#gen/memory_pb';
import { PeopleService } from '#gen/people_pb';
import { PrivacyService } from '#gen/privacy_pb';
import { QueueService } from '#gen/queues_pb';
import { SessionService } from '#gen/sessions_pb';
import { TelephonyService } from '#gen/telephony_pb';
import { ToolService } from '#gen/tools_pb';
import { UsageService } from '#gen/usage_pb';
import { WebhookService } from '#gen/webhooks_pb';
import { ApiKeyService, WorkspaceService } from '#gen/workspaces_pb';

import { signInTransport, transport } from './transport';

export const agents = createClient(AgentService, transport);
export const apiKeys = createClient(ApiKeyService, transport);
export const audit = createClient(AuditService, transport);
export const billing = createClient(BillingService, transport);
export const callbacks = createClient(CallbackService, transport);
export const credentials = createClient(ProviderCredentialService, transport);
export const insights = createClient(InsightService, transport);
export const knowledge = createClient(KnowledgeService, transport);
export const memory = createClient(MemoryService, transport);
export const people = createClient(PeopleService, transport);
/** Asks who calls, to see whether the credentials are right. */
export const whoCalls = () => createClient(PeopleService, signInTransport).getCaller({});
export const privacy = createClient(PrivacyService, transport);
export const queues = createClient(QueueService, transport);
export const sessions = createClient(SessionService, transport);
export const telephony = createClient(TelephonyService, transport);
export const tools = createClient(ToolService, transport);
export const usage = createClient(UsageService, transport);
export const webhooks = createClient(WebhookService, transport);
export const workspaces = createClient(WorkspaceService, transport);
