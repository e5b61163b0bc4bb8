// The session client: text and voice with an agent over WebSockets.
export { connect, type Session, SessionError, type Turn } from './connect.js';
export type { Listener } from './emitter.js';
export type {
  Answer,
  Approval,
  Channel,
  ClientToolCall,
  ConnectionState,
  EventOf,
  Handover,
  SessionEvent,
  Timing,
  ToolCall,
  VoiceState,
} from './events.js';
export type { ConnectOptions, SessionUrls, WorkletUrls } from './options.js';
export type { Retry } from './retry.js';
export type { WebSocketConstructor, WebSocketLike } from './socket.js';
export type { SoundTrouble } from './sound.js';
export type { Tool } from './tools.js';
export type { Voice } from './voice.js';
export type { Citation, ClientEvent, ContentPart, Item, ServerEvent, Usage, WireError, WireResponse } from './wire.js';
export {
  type AnswerEntry,
  type AnswerMessage,
  emptyView,
  type Entry,
  type NoticeEntry,
  reduceView,
  type UserEntry,
  type View,
} from './view.js';
