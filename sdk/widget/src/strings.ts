// The words of the widget. English is the table that others are compared with; languages without a
// table get English.
import { de, es, fr, it, nl, pt } from './translations.js';

/** Words with {name} in them have a part put in: see fill(). */
export const en = {
  title: 'Ask us',
  open: 'Open the chat',
  close: 'Close the chat',
  messages: 'Messages',
  welcome: 'Ask a question. You can stop the answer at any time.',
  placeholder: 'Write a message',
  send: 'Send',
  stop: 'Stop the answer',
  writing: 'Writing an answer …',
  you: 'You',
  assistant: 'Assistant',
  person: 'Person',
  sources: 'Sources ({name})',
  page: 'p. {name}',
  unheard: 'Not heard:',
  stopped: 'Stopped.',
  cut: 'The answer was cut short.',
  failedAnswer: 'There was no answer. Please ask again.',
  failedMessage: 'Not sent.',
  again: 'Try again',
  unclear: 'This was not understood. Please say it again or type it.',
  toolRunning: 'Working on it: {name} …',
  toolDone: 'Done: {name}',
  toolFailed: 'Did not work: {name}',
  approval: 'May the assistant do this: {name}?',
  allow: 'Allow',
  deny: 'Do not allow',
  requested: 'A person was asked to join. You can go on writing meanwhile.',
  operator: '{name} has joined. You are writing with a person now.',
  released: 'You are writing with the assistant again.',
  ended: 'This conversation has ended.',
  idle: 'This conversation has ended because nothing was said for a while.',
  restart: 'New conversation',
  connecting: 'Connecting …',
  reconnecting: 'The connection was lost. It is made again …',
  replaced: 'This conversation goes on in another window.',
  takeOver: 'Go on here',
  unreachable: 'Could not connect. Check your connection and try again.',
  signIn: 'Please sign in and try again.',
  tooMany: 'Too many conversations were begun. Please wait a minute and try again.',
  unavailable: 'The chat is not available at the moment. Please try again later.',
  misconfigured: 'The chat is not set up correctly.',
  talk: 'Talk',
  stopTalking: 'Stop talking',
  mute: 'Mute',
  unmute: 'Unmute',
  asking: 'Please allow the microphone …',
  listening: 'Listening',
  youSpeak: 'You are speaking',
  agentSpeaks: 'The assistant is speaking',
  muted: 'You are muted',
  typeOnly: 'Please type. The answer is spoken.',
  level: 'Loudness of your microphone',
  micDenied: 'The microphone is not allowed. Allow it beside the address of this page, then try again.',
  micMissing: 'No microphone was found. Connect one, then try again.',
  micBusy: 'The microphone cannot be used. Perhaps another program has it.',
  micFailed: 'Talking is not possible on this page. You can go on in writing.',
};

/** The words of one language. */
export type Strings = typeof en;

const tables: Readonly<Record<string, Strings>> = { en, de, fr, es, it, pt, nl };

/** The words of a BCP 47 tag. */
export function stringsOf(language: string): Strings {
  return tables[language.toLowerCase().split('-')[0] ?? ''] ?? en;
}

/** Whether there is a table for a tag, so that the panel's language is that. */
export function languageOf(language: string): string {
  const base = language.toLowerCase().split('-')[0] ?? '';
  return base in tables ? base : 'en';
}

/** A text with its {name} replaced. */
export const fill = (text: string, name: string | number): string => text.replace('{name}', () => String(name));
