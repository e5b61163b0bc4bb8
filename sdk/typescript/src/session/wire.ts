// The events of the protocol as they are on the wire: OpenAI's Realtime protocol and Parlance's own
// events, which begin with "parlance.". Members that this package does not read are left out.

/** A passage that the agent was given for an answer. */
export interface Citation {
  readonly source_id: string;
  readonly source_name: string;
  readonly chunk_id: string;
  readonly heading?: string;
  /** The first and last page, counted from 1. */
  readonly page_start?: number;
  readonly page_end?: number;
  /** From 0 to 1. */
  readonly similarity: number;
  readonly excerpt: string;
  /** Whether the answer quotes the passage; set by the extractive responder only. */
  readonly quoted?: boolean;
}

/** A part of a message. `transcript` is null while the words are not known. */
export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly transcript?: string | null;
}

/** An item of the conversation; the members depend on its type. */
export interface Item {
  readonly id: string;
  readonly type: string;
  readonly status?: string;
  readonly role?: string;
  readonly content?: readonly ContentPart[];
  readonly parlance_operator?: string;
  readonly call_id?: string;
  readonly name?: string;
  /** JSON as text. */
  readonly arguments?: string;
  readonly output?: string | null;
  readonly error?: { readonly type?: string; readonly message?: string } | null;
}

/** Counts of tokens. */
export interface Usage {
  readonly total_tokens: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** A response as response.created and response.done have it. */
export interface WireResponse {
  readonly id: string;
  readonly status?: string;
  readonly status_details?: {
    readonly type?: string;
    readonly reason?: string;
    readonly error?: { readonly code?: string; readonly message?: string };
  } | null;
  readonly output?: readonly Item[];
  readonly output_modalities?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly usage?: Usage | null;
  /** null for an answer out of band. */
  readonly conversation_id?: string | null;
}

/** The content of an error event. */
export interface WireError {
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
  readonly param?: string | null;
  readonly event_id?: string | null;
}

/**
 * An event of the server. The members depend on `type`; docs/realtime.md lists them. Members that
 * this package does not know are kept.
 */
export interface ServerEvent {
  readonly type: string;
  readonly event_id?: string;
  readonly [member: string]: unknown;
}

/** An event of the client. */
export interface ClientEvent {
  readonly type: string;
  readonly event_id?: string;
  readonly [member: string]: unknown;
}

/**
 * The members of server events that this package reads, each present only where its type has it.
 */
export interface Fields {
  readonly type: string;
  readonly event_id?: string;
  readonly item?: Item;
  readonly item_id?: string;
  readonly response?: WireResponse;
  readonly response_id?: string;
  readonly delta?: string;
  readonly text?: string;
  readonly transcript?: string;
  readonly citations?: readonly Citation[];
  readonly guard?: string;
  readonly action?: string;
  readonly side?: string;
  readonly status?: string;
  readonly operator?: string;
  readonly reason?: string;
  readonly error?: WireError;
  readonly audio_end_ms?: number;
  readonly endpoint_ms?: number;
  readonly transcript_ms?: number;
  readonly first_token_ms?: number;
  readonly first_audio_ms?: number;
  readonly session?: {
    readonly id?: string;
    readonly audio?: { readonly input?: { readonly turn_detection?: { readonly interrupt_response?: boolean } | null } };
  };
}

/** The members of an event. What is on the wire was not checked: strings may be missing. */
export const fieldsOf = (event: ServerEvent): Fields => event as unknown as Fields;

/** The text of a message's parts, written or spoken. */
export function textOf(item: Item): string {
  return (item.content ?? []).map((part) => part.text ?? part.transcript ?? '').join('\n');
}
