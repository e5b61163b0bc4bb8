// The settings of an agent as the editor has them: all parts are there.

import { create, fromJson, toJson, type JsonObject } from '@bufbuild/protobuf';

import {
  AgentAnalysisSchema,
  AgentCallbacksSchema,
  AgentHandoverSchema,
  AgentMemorySchema,
  AgentModelSchema,
  AgentRetrievalSchema,
  AgentSchema,
  AgentVoiceSchema,
  CreateAgentRequestSchema,
  PrivacySettingsSchema,
  ToolsConfigSchema,
  type Agent,
  type CreateAgentRequest,
} from '#gen/agents_pb';

type Part =
  'model' | 'voice' | 'retrieval' | 'toolsConfig' | 'memory' | 'analysis' | 'privacy' | 'callbacks' | 'handover';

/** What SaveAgentDraft takes, with every part that is an object. */
export type Settings = CreateAgentRequest & { [K in Part]-?: NonNullable<CreateAgentRequest[K]> };

function complete(request: CreateAgentRequest): Settings {
  return {
    ...request,
    workspaceId: '',
    model: request.model ?? create(AgentModelSchema),
    voice: request.voice ?? create(AgentVoiceSchema),
    retrieval: request.retrieval ?? create(AgentRetrievalSchema),
    toolsConfig: request.toolsConfig ?? create(ToolsConfigSchema),
    memory: request.memory ?? create(AgentMemorySchema),
    analysis: request.analysis ?? create(AgentAnalysisSchema),
    privacy: request.privacy ?? create(PrivacySettingsSchema),
    callbacks: request.callbacks ?? create(AgentCallbacksSchema),
    handover: request.handover ?? create(AgentHandoverSchema),
  };
}

/** The settings of an agent or of its draft. */
export const settingsOf = (agent: Agent): Settings =>
  complete(fromJson(CreateAgentRequestSchema, toJson(AgentSchema, agent), { ignoreUnknownFields: true }));

/** The settings as JSON, with the names and values that the REST API has. */
export function toText(settings: Settings): string {
  const json = toJson(CreateAgentRequestSchema, settings, {
    useProtoFieldName: true,
    alwaysEmitImplicit: true,
  }) as JsonObject;
  delete json['workspace_id'];
  return JSON.stringify(json, (name, value: unknown) => (name === 'parameters_json' ? undefined : value), 2);
}

/** The settings of a JSON text. Throws when it is no JSON, or has a field that there is not. */
export function fromText(text: string): Settings {
  const json = JSON.parse(text) as JsonObject;
  // An agent that is made without memory settings has memory; one that is shown without has none.
  return complete(fromJson(CreateAgentRequestSchema, { memory: { enabled: true }, ...json }));
}
