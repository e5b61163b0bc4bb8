// What a session is made with.
import type { Retry } from './retry.js';
import type { WebSocketConstructor } from './socket.js';
import type { Tool } from './tools.js';

/** The URLs of a session, as the server's `POST /v1/sessions` returns them. */
export interface SessionUrls {
  /** `chat_url`: text. */
  readonly chatUrl: string;
  /** `ws_url`: speech and text. Without it there is no voice. */
  readonly wsUrl?: string | undefined;
}

/** The URLs of the audio worklets, absolute or relative to the page. */
export interface WorkletUrls {
  readonly microphone: string;
  readonly player: string;
}

/** What a session is made with. Either `chatUrl` or `fetchSession` is needed. */
export interface ConnectOptions {
  readonly chatUrl?: string;
  readonly wsUrl?: string | undefined;
  /** Gets the URLs of a new session: at the beginning without `chatUrl`, and for restart(). */
  readonly fetchSession?: () => Promise<SessionUrls>;
  /** The tools that this client runs. */
  readonly tools?: readonly Tool[];
  /**
   * Whether the text connection is made at once; true by default. With false it is made by
   * session.open(), so that voice.start() before it has the greeting spoken.
   */
  readonly autoConnect?: boolean;
  /** Needed for voice: the files microphone.js and player.js of dist/worklets. */
  readonly worklets?: WorkletUrls;
  /** The constructor of WebSockets; by default the global one. */
  readonly WebSocket?: WebSocketConstructor;
  /** Changes how a lost connection is made again. */
  readonly retry?: Partial<Retry>;
  /** Numbers from 0 to 1 for waits; Math.random by default. */
  readonly random?: () => number;
  /**
   * Says why a handshake was refused, as a code of docs/errors.md, or ''. By default the URL is
   * asked over HTTP where the page may read the answer.
   */
  readonly refusalOf?: (socketUrl: string) => Promise<string>;
}
