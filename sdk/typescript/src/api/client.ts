// The client of the whole API.
import { type CallOptions, type Client, createClient, type Interceptor } from '@connectrpc/connect';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { AgentService } from '../gen/agents_pb.js';
import { AuditService } from '../gen/audit_pb.js';
import { BillingService } from '../gen/billing_pb.js';
import { CallbackService } from '../gen/callbacks_pb.js';
import { ProviderCredentialService } from '../gen/credentials_pb.js';
import { InsightService } from '../gen/insights_pb.js';
import { KnowledgeService, type Source } from '../gen/knowledge_pb.js';
import { MemoryService } from '../gen/memory_pb.js';
import { PeopleService } from '../gen/people_pb.js';
import { PrivacyService } from '../gen/privacy_pb.js';
import { QueueService } from '../gen/queues_pb.js';
import {
  type CreateSessionRequestSchema,
  SessionService,
  type StreamTurnRequestSchema,
  type StreamTurnResponse,
} from '../gen/sessions_pb.js';
import { TelephonyService } from '../gen/telephony_pb.js';
import { ToolService } from '../gen/tools_pb.js';
import { UsageService } from '../gen/usage_pb.js';
import { WebhookService } from '../gen/webhooks_pb.js';
import { ApiKeyService, WorkspaceService } from '../gen/workspaces_pb.js';
import { connect, type ConnectOptions, type Session } from '../session/index.js';
import { defaultRetries, type Retries } from './retry.js';
import { type Connection, makeTransport } from './transport.js';
import { streamTurn } from './turns.js';
import { type FileToUpload, upload, type UploadOptions } from './upload.js';

/** What a client is made with. */
export interface ParlanceOptions {
  /**
   * Where the service is, with or without /v1, for example https://parlance.example.org. By default
   * PARLANCE_BASE_URL of the environment, where there is one.
   */
  readonly baseUrl?: string | undefined;
  /**
   * An API key, or the token of a session for that session's turns. By default PARLANCE_API_KEY of
   * the environment. A page must not have an API key.
   */
  readonly apiKey?: string | undefined;
  /**
   * How long each try of a call may take, and how long nothing may happen in an upload and at the
   * beginning of a streamed turn, in milliseconds; 60,000 by default.
   */
  readonly timeoutMs?: number;
  /** How calls that failed are made again. */
  readonly retries?: Partial<Retries>;
  /** In place of the global fetch. */
  readonly fetch?: typeof fetch;
  /** Interceptors of Connect, for logs and measurements. They see each try. */
  readonly interceptors?: readonly Interceptor[];
}

/** Sessions and their turns. */
export interface Sessions extends Client<typeof SessionService> {
  /**
   * Says something, and yields the events of the answer up to `turn.done`, each once. A lost
   * connection is made again and goes on after the last event, for up to two minutes. A second
   * `started` says that the events before it are void: the answer begins again.
   *
   * Who stops reading leaves the turn, which goes on: cancelTurn() stops it.
   */
  streamTurn(
    request: MessageInitShape<typeof StreamTurnRequestSchema>,
    options?: CallOptions,
  ): AsyncGenerator<StreamTurnResponse, void, undefined>;
  /**
   * Creates a session and connects to it: for text, and for voice unless the modality is `text`.
   * Node before 22 has no WebSocket: pass one in the options. Its restart() needs a `fetchSession`.
   * `signal` stops the creation, and closes a session that has not been connected yet.
   */
  connect(
    request: MessageInitShape<typeof CreateSessionRequestSchema>,
    options?: Omit<ConnectOptions, 'chatUrl' | 'wsUrl'> & { readonly signal?: AbortSignal },
  ): Promise<ConnectedSession>;
}

/** A session that this client has created. */
export type ConnectedSession = Session & {
  /** ses_… */
  readonly id: string;
};

/** The knowledge base. Files are sent by upload() and replaceContent(). */
export interface Knowledge extends Omit<Client<typeof KnowledgeService>, 'uploadSource' | 'replaceSourceContent'> {
  /** Adds a file to the knowledge base. The source is `queued` or `processing` at first. */
  upload(file: FileToUpload, options?: UploadOptions): Promise<Source>;
  /** Gives a source other content. What is left out of name and tags stays as it is. */
  replaceContent(file: FileToUpload & { readonly sourceId: string }, options?: UploadOptions): Promise<Source>;
}

/**
 * A client of Parlance. Each member is a service of the contract, whose methods take requests and
 * return answers as the contract has them; they reject with ParlanceErrors.
 *
 * Calls that failed on the connection, or for a reason that may pass, are made again, at most two
 * times by default. Each call has an idempotency key, so that nothing is done twice.
 */
export class Parlance {
  readonly agents: Client<typeof AgentService>;
  readonly apiKeys: Client<typeof ApiKeyService>;
  readonly audit: Client<typeof AuditService>;
  readonly billing: Client<typeof BillingService>;
  readonly callbacks: Client<typeof CallbackService>;
  readonly credentials: Client<typeof ProviderCredentialService>;
  readonly insights: Client<typeof InsightService>;
  readonly knowledge: Knowledge;
  readonly memory: Client<typeof MemoryService>;
  readonly people: Client<typeof PeopleService>;
  readonly privacy: Client<typeof PrivacyService>;
  readonly queues: Client<typeof QueueService>;
  readonly sessions: Sessions;
  readonly telephony: Client<typeof TelephonyService>;
  readonly tools: Client<typeof ToolService>;
  readonly usage: Client<typeof UsageService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly workspaces: Client<typeof WorkspaceService>;

  /** Throws a TypeError when there is no base URL or no key, or one that cannot be one. */
  constructor(options: ParlanceOptions = {}) {
    const connection = connectionOf(options);
    const transport = makeTransport(connection);
    this.agents = createClient(AgentService, transport);
    this.apiKeys = createClient(ApiKeyService, transport);
    this.audit = createClient(AuditService, transport);
    this.billing = createClient(BillingService, transport);
    this.callbacks = createClient(CallbackService, transport);
    this.credentials = createClient(ProviderCredentialService, transport);
    this.insights = createClient(InsightService, transport);
    this.knowledge = makeKnowledge(createClient(KnowledgeService, transport), connection);
    this.memory = createClient(MemoryService, transport);
    this.people = createClient(PeopleService, transport);
    this.privacy = createClient(PrivacyService, transport);
    this.queues = createClient(QueueService, transport);
    this.sessions = makeSessions(createClient(SessionService, transport), connection);
    this.telephony = createClient(TelephonyService, transport);
    this.tools = createClient(ToolService, transport);
    this.usage = createClient(UsageService, transport);
    this.webhooks = createClient(WebhookService, transport);
    this.workspaces = createClient(WorkspaceService, transport);
  }
}

function connectionOf(options: ParlanceOptions): Connection {
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
  return {
    baseUrl: baseUrlOf(options.baseUrl ?? env['PARLANCE_BASE_URL']),
    apiKey: keyOf(options.apiKey ?? env['PARLANCE_API_KEY']),
    timeoutMs: options.timeoutMs ?? 60_000,
    retries: { ...defaultRetries, ...options.retries },
    // A redirect could carry the key to somebody else. Not every worker runtime knows 'error'.
    fetch: (input, init) => (options.fetch ?? globalThis.fetch)(input, { ...init, redirect: 'manual' }),
    interceptors: options.interceptors ?? [],
  };
}

/**
 * The base URL without /v1 and a slash at its end. The errors do not show it: it may have a
 * password.
 */
function baseUrlOf(given: string | undefined): string {
  const text = given?.trim();
  if (!text) throw new TypeError('Parlance needs baseUrl, or PARLANCE_BASE_URL in the environment.');
  if (!/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text))
    throw new TypeError('baseUrl is no URL that begins with http:// or https://, such as https://parlance.example.org.');
  const { username, password, search, hash } = new URL(text);
  if (username || password || search || hash) throw new TypeError('baseUrl must have no name, password, ? or #.');
  return text.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function keyOf(given: string | undefined): string {
  const key = given?.trim();
  if (!key) throw new TypeError('Parlance needs apiKey, or PARLANCE_API_KEY in the environment.');
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('apiKey has a character that no key has: a space, a line break or one that is not ASCII.');
  return key;
}

function makeSessions(client: Client<typeof SessionService>, connection: Connection): Sessions {
  return {
    ...client,
    streamTurn: (request, options) => streamTurn(client, connection, request, options),
    async connect(request, { signal, ...options } = {}) {
      if (!options.WebSocket && typeof WebSocket === 'undefined')
        throw new TypeError('There is no WebSocket here, as in Node before 22. Pass one: { WebSocket: (await import("ws")).WebSocket }.');
      const { id, chatUrl, wsUrl } = await client.createSession(request, signal && { signal });
      const session = connect({ ...options, chatUrl, ...(request.modality !== 'text' && { wsUrl }) });
      if (signal) closeUnopened(session, signal);
      return Object.assign(session, { id });
    },
  };
}

/** Closes a session when a signal says so before there was a connection. */
function closeUnopened(session: Session, signal: AbortSignal): void {
  if (signal.aborted) return session.close();
  signal.addEventListener('abort', session.close, { once: true });
  const stop = session.on('state', ({ state }) => {
    if (state.name !== 'open') return;
    stop();
    signal.removeEventListener('abort', session.close);
  });
}

function makeKnowledge(client: Client<typeof KnowledgeService>, connection: Connection): Knowledge {
  const sources = (workspaceId: string): string => `/v1/workspaces/${encodeURIComponent(workspaceId)}/knowledge-base/sources`;
  return {
    ...client,
    upload: (file, options = {}) => upload(connection, { method: 'POST', path: `${sources(file.workspaceId)}/upload` }, file, options),
    replaceContent({ sourceId, ...file }, options = {}) {
      const path = `${sources(file.workspaceId)}/${encodeURIComponent(sourceId)}/content`;
      return upload(connection, { method: 'PUT', path }, file, options);
    },
  };
}
