// The client's own tools: declared on each connection, called by the agent.
import type { ClientToolCall, SessionEvent } from './events.js';
import type { ClientEvent } from './wire.js';

/** A tool that this client runs. */
export interface Tool {
  /** Letters, digits, _ and -; not the name of one of the agent's own tools. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** A JSON Schema of the arguments; absent for a tool without arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /**
   * Runs the tool. The result is a text, or anything that becomes JSON; at most 256 KiB, of which
   * the model gets the first 16. In place of a larger one it is told so. An error that is thrown is
   * the result for the model. The agent waits 20 s by default. Without a handler the calls are
   * events, `client-tool.called`.
   */
  readonly run?: (args: Readonly<Record<string, unknown>>, call: ClientToolCall) => unknown;
}

/** How large a result may be, in bytes. Source: docs/realtime.md, Items. */
const maxOutputBytes = 256 * 1024;

export interface ClientTools {
  /** The event that declares the tools; undefined if there are none. */
  declaration(): Readonly<Record<string, unknown>>[];
  called(call: ClientToolCall): void;
  /** Sends a result. False when the call is not waited for. */
  answer(callId: string, output: unknown): boolean;
  /** The server has a result, perhaps one of its own because it waited for too long. */
  closed(callId: string, output: string): void;
  clear(): void;
}

/** send(callId, output) sends a result and asks for the answer. */
export function makeClientTools(
  tools: readonly Tool[],
  emit: (event: SessionEvent) => void,
  send: (callId: string, output: string) => void,
): ClientTools {
  const open = new Set<string>();
  const known = new Set<string>();

  function answer(callId: string, output: unknown): boolean {
    if (!open.delete(callId)) return false;
    const text = textOf(output);
    emit({ type: 'client-tool.closed', callId, output: text, expired: false });
    send(callId, text);
    return true;
  }

  async function run(tool: Tool, call: ClientToolCall): Promise<void> {
    try {
      const args = JSON.parse(call.arguments || '{}') as Record<string, unknown>;
      answer(call.callId, (await tool.run?.(args, call)) ?? '');
    } catch (error) {
      answer(call.callId, { error: error instanceof Error ? error.message : String(error) });
    }
  }

  return {
    declaration: () =>
      tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        parameters: parameters ?? { type: 'object', properties: {} },
      })),
    called(call) {
      if (known.has(call.callId)) return; // it was sent again after a reconnect
      known.add(call.callId);
      open.add(call.callId);
      const tool = tools.find((t) => t.name === call.name);
      emit({ type: 'client-tool.called', call, handled: Boolean(tool?.run) });
      if (tool?.run) void run(tool, call);
    },
    answer,
    closed(callId, output) {
      if (open.delete(callId)) emit({ type: 'client-tool.closed', callId, output, expired: true });
    },
    clear() {
      for (const callId of open) emit({ type: 'client-tool.closed', callId, output: '', expired: true });
      open.clear();
    },
  };
}

function textOf(output: unknown): string {
  const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
  return new TextEncoder().encode(text).length > maxOutputBytes ? '{"error":"The result is larger than 256 KiB."}' : text;
}

/** The event that declares tools and settings on a new connection. */
export function sessionUpdate(settings: Readonly<Record<string, unknown>>): ClientEvent {
  return { type: 'session.update', session: { type: 'realtime', ...settings } };
}
