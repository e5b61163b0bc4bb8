// Messages as JSON.
import { createRegistry, type JsonValue, type Message, type Registry, toJson as jsonOf } from '@bufbuild/protobuf';
import { file_parlance_v1_agents } from '../gen/agents_pb.js';
import { file_parlance_v1_audit } from '../gen/audit_pb.js';
import { file_parlance_v1_billing } from '../gen/billing_pb.js';
import { file_parlance_v1_callbacks } from '../gen/callbacks_pb.js';
import { file_parlance_v1_credentials } from '../gen/credentials_pb.js';
import { file_parlance_v1_events } from '../gen/events_pb.js';
import { file_parlance_v1_insights } from '../gen/insights_pb.js';
import { file_parlance_v1_knowledge } from '../gen/knowledge_pb.js';
import { file_parlance_v1_memory } from '../gen/memory_pb.js';
import { file_parlance_v1_people } from '../gen/people_pb.js';
import { file_parlance_v1_privacy } from '../gen/privacy_pb.js';
import { file_parlance_v1_queues } from '../gen/queues_pb.js';
import { file_parlance_v1_sessions } from '../gen/sessions_pb.js';
import { file_parlance_v1_telephony } from '../gen/telephony_pb.js';
import { file_parlance_v1_tools } from '../gen/tools_pb.js';
import { file_parlance_v1_usage } from '../gen/usage_pb.js';
import { file_parlance_v1_webhooks } from '../gen/webhooks_pb.js';
import { file_parlance_v1_workspaces } from '../gen/workspaces_pb.js';

const files = (): Registry =>
  createRegistry(
    file_parlance_v1_agents,
    file_parlance_v1_audit,
    file_parlance_v1_billing,
    file_parlance_v1_callbacks,
    file_parlance_v1_credentials,
    file_parlance_v1_events,
    file_parlance_v1_insights,
    file_parlance_v1_knowledge,
    file_parlance_v1_memory,
    file_parlance_v1_people,
    file_parlance_v1_privacy,
    file_parlance_v1_queues,
    file_parlance_v1_sessions,
    file_parlance_v1_telephony,
    file_parlance_v1_tools,
    file_parlance_v1_usage,
    file_parlance_v1_webhooks,
    file_parlance_v1_workspaces,
  );

let registry: Registry | undefined;

/**
 * An answer, an event or a part of one as JSON, which JSON.stringify takes: times are texts as in
 * 2026-01-02T03:04:05Z, and so are integers of 64 bits. The names are those of the types here.
 * Throws a TypeError for what is no message of the contract.
 */
export function toJson(message: Message): JsonValue {
  registry ??= files(); // made when it is needed: it takes some milliseconds
  const schema = registry.getMessage(message.$typeName);
  if (!schema) throw new TypeError(`toJson() needs a message of Parlance, and not ${String(message.$typeName)}.`);
  return jsonOf(schema, message, { registry });
}
