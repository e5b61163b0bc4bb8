// What a session reports. Every event has a `type` that tells its other members.
import type { Citation, ClientEvent, ServerEvent, Usage, WireResponse } from './wire.js';

/** A socket of the session: `chat` for text alone, `voice` for speech and text. */
export type Channel = 'chat' | 'voice';

/** Whether there is a connection. */
export interface ConnectionState {
  /**
   * idle: not asked for yet. reconnecting: it was lost, and the next attempt is due in `retryInMs`.
   * closed: it is not made again by itself.
   */
  readonly name: 'idle' | 'connecting' | 'open' | 'reconnecting' | 'closed';
  /** The state in an English sentence. */
  readonly text: string;
  /** The close code, once there was one: 1006 for a connection that was lost or never made. */
  readonly code?: number;
  /** The server's reason, for example `idle_timeout`, or a code of docs/errors.md. */
  readonly reason?: string;
  readonly retryInMs?: number;
  /** Only of `closed`: reconnect() may succeed. Otherwise the session has ended or is refused. */
  readonly canReconnect?: boolean;
}

/** A call of one of the service's tools. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly status: 'running' | 'completed' | 'failed';
  /** JSON as text; empty while the call runs. */
  readonly arguments: string;
  readonly output?: string;
  /** Why it failed. */
  readonly error?: string;
}

/** A call that the user has to allow. */
export interface Approval {
  readonly id: string;
  readonly answerId: string;
  readonly name: string;
  /** JSON as text. */
  readonly arguments: string;
}

/** A call of a tool of this client. */
export interface ClientToolCall {
  readonly callId: string;
  readonly answerId: string;
  readonly name: string;
  /** JSON as text. */
  readonly arguments: string;
}

/** An answer that has ended. */
export interface Answer {
  readonly id: string;
  /**
   * incomplete: the model stopped early, see `reason`. operator: a person has the conversation, so
   * the agent does not answer; `id` is empty.
   */
  readonly status: 'completed' | 'cancelled' | 'incomplete' | 'failed' | 'operator';
  /**
   * For example client_cancelled, turn_detected, max_output_tokens, content_filter, tool_rounds.
   */
  readonly reason: string;
  /** The messages of the answer, joined by blank lines. */
  readonly text: string;
  readonly spoken: boolean;
  readonly citations: readonly Citation[];
  readonly toolCalls: readonly ToolCall[];
  readonly clientToolCalls: readonly ClientToolCall[];
  /** Why it failed. `code` is one of docs/errors.md. */
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage?: Usage;
  /** The response as the server sent it. */
  readonly response?: WireResponse;
}

/** Who has the conversation. */
export interface Handover {
  /** none: the agent. requested: a person was asked for. operator: a person has it. */
  readonly status: 'none' | 'requested' | 'operator' | 'released';
  /** The person's name, while one has the conversation. */
  readonly operator: string;
}

/** The session's voice. */
export interface VoiceState {
  readonly phase: 'off' | 'asking' | 'connecting' | 'on';
  readonly muted: boolean;
  /**
   * Whether the service understands speech. If not, the microphone is off, and answers are heard.
   */
  readonly hears: boolean;
  readonly userSpeaks: boolean;
  readonly agentSpeaks: boolean;
  /** Why it is off or waits, in an English sentence; empty if there is no trouble. */
  readonly trouble: string;
  /**
   * What kind of trouble: a key of the table in sound.ts, `connection`, `closed`, `unavailable`
   * (the session cannot be talked with) or empty.
   */
  readonly troubleCode: string;
}

/** From the end of the user's speech, in milliseconds. */
export interface Timing {
  readonly answerId: string;
  readonly endpointMs: number;
  readonly transcriptMs: number;
  readonly firstTokenMs: number;
  readonly firstAudioMs: number;
}

/** An event of a session. */
export type SessionEvent =
  /**
   * A session has begun or was come back to. Another id than before: what was shown is another's.
   */
  | { readonly type: 'session'; readonly id: string }
  | { readonly type: 'state'; readonly channel: Channel; readonly state: ConnectionState }
  /** The session has ended, and with it every connection. */
  | { readonly type: 'ended'; readonly reason: string; readonly text: string; readonly failed: boolean }
  /** What the user says. Sent again when its status or its words change. */
  | {
      readonly type: 'user.message';
      readonly id: string;
      readonly text: string;
      readonly spoken: boolean;
      /** unclear: spoken, and not understood. */
      readonly status: 'sending' | 'sent' | 'failed' | 'unclear';
      readonly error?: { readonly code: string; readonly message: string };
    }
  /** `operator` is the name of the person who speaks, and empty when the agent answers. */
  | { readonly type: 'answer.started'; readonly answerId: string; readonly spoken: boolean; readonly operator: string }
  | { readonly type: 'answer.delta'; readonly answerId: string; readonly messageId: string; readonly delta: string }
  /** A message of an answer is complete, or was cut. */
  | {
      readonly type: 'answer.message';
      readonly answerId: string;
      readonly messageId: string;
      readonly text: string;
      readonly spoken: boolean;
    }
  | { readonly type: 'answer.citations'; readonly answerId: string; readonly citations: readonly Citation[] }
  | { readonly type: 'answer.done'; readonly answer: Answer }
  /** A spoken message was interrupted: the words that were heard, and those that were not. */
  | { readonly type: 'answer.heard'; readonly messageId: string; readonly heard: string; readonly unheard: string }
  /**
   * A whole message of the agent that came without its answer: from another socket or over HTTP.
   */
  | { readonly type: 'agent.message'; readonly id: string; readonly text: string }
  | { readonly type: 'operator.message'; readonly id: string; readonly text: string; readonly operator: string }
  | { readonly type: 'tool.started' | 'tool.done'; readonly answerId: string; readonly call: ToolCall }
  | { readonly type: 'approval.requested'; readonly approval: Approval }
  /** The approval is not waited for any more. */
  | { readonly type: 'approval.closed'; readonly id: string }
  /** `handled`: a handler was called. Otherwise answer with session.answerTool(). */
  | { readonly type: 'client-tool.called'; readonly call: ClientToolCall; readonly handled: boolean }
  /** A result was sent, or the agent waits for it no longer. */
  | { readonly type: 'client-tool.closed'; readonly callId: string; readonly output: string; readonly expired: boolean }
  /** Words are in a no-go zone. What follows is its reply. */
  | {
      readonly type: 'guard';
      readonly answerId: string;
      readonly guard: string;
      readonly action: string;
      readonly side: string;
    }
  | { readonly type: 'handover'; readonly handover: Handover }
  | { readonly type: 'message.deleted'; readonly id: string }
  /** Something that was sent is refused. `eventId` is the id of the client's event. */
  | { readonly type: 'error'; readonly code: string; readonly message: string; readonly eventId: string }
  | { readonly type: 'voice'; readonly voice: VoiceState }
  /** Loudness in decibels below full scale, from -100 to 0; several times a second. */
  | { readonly type: 'levels'; readonly inputDb: number; readonly outputDb: number }
  /**
   * The server takes something for speech, or not any more. `endedAtMs` is on performance.now().
   */
  | { readonly type: 'speech.started'; readonly id: string }
  | { readonly type: 'speech.stopped'; readonly id: string; readonly endedAtMs: number }
  | { readonly type: 'speech.dropped'; readonly id: string; readonly reason: string }
  | { readonly type: 'timing'; readonly timing: Timing }
  /** Every event that goes over a socket, but those with sound. */
  | {
      readonly type: 'raw';
      readonly channel: Channel;
      readonly direction: 'in' | 'out';
      readonly event: ServerEvent | ClientEvent;
    }
  /** Sound that went over a socket. */
  | {
      readonly type: 'sound';
      readonly direction: 'in' | 'out';
      readonly event: string;
      readonly ms: number;
    };

/** The event of one type. */
export type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { readonly type: T }>;
