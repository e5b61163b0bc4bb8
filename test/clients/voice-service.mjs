// A service as the console and the widget see it, with a script in place of an agent: their files,
// what they need of the API, and sockets with the OpenAI Realtime protocol of
// server/realtime/openai. It hears by loudness alone, and speaks a tone.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { extname } from 'node:path';
import { WebSocketServer } from 'ws';

const files = new URL('../../console/', import.meta.url);
const widgetFiles = new URL('../../sdk/widget/dist/', import.meta.url);
const mediaTypes = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The policy of server/console.go. */
const policy = readFileSync(new URL('../../server/console.go', import.meta.url), 'utf8')
  .match(/const consolePolicy = ("[^]*?)\n\n/)[1]
  .replaceAll(/"\s*\+\s*"|"/g, '');

const wireHz = 24_000;
/** How far ahead of real time sound is sent, and in which pieces. */
const leadMS = 400,
  pieceMS = 40;
/** Sound above it is speech. */
const speechDB = -45;
/** How long a character is spoken. */
export const charMS = 65;
/** How much speech begins an utterance, and how much silence ends it. */
const startMS = 100,
  endMS = 500;

/**
 * Starts a service. `hears` is what is understood of each utterance; a service without it hears
 * nothing. It listens to as many utterances as there are in `listensTo`.
 */
export async function serve({ hears, answers }) {
  const times = { endpoint_ms: 300, transcript_ms: 450, first_token_ms: 650, first_audio_ms: 730 };
  const service = { hears, answers, greeting: '', times, listensTo: 1, sessions: new Map() };
  const server = http.createServer((request, response) => respond(service, request, response));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    const url = new URL(request.url, 'http://localhost');
    const [, channel, id] = url.pathname.match(/\/v1\/realtime\/(\w+)\/(\w+)/);
    service.sessions.get(id).join(channel, socket, url);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  service.url = `http://127.0.0.1:${server.address().port}`;
  service.last = () => [...service.sessions.values()].at(-1);
  service.close = () => {
    for (const session of service.sessions.values()) session.end();
    sockets.close();
    server.close();
    server.closeAllConnections();
  };
  return service;
}

async function respond(service, request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname.startsWith('/console/')) {
    const name = pathname.slice('/console/'.length) || 'index.html';
    const headers = { 'content-type': mediaTypes[extname(name)], 'content-security-policy': policy };
    return response
      .writeHead(200, { ...headers, 'x-content-type-options': 'nosniff' })
      .end(readFileSync(new URL(name, files)));
  }
  if (pathname.startsWith('/widget/')) {
    const file = new URL(pathname.slice('/widget/'.length), widgetFiles);
    const headers = { 'content-type': mediaTypes['.js'], 'access-control-allow-origin': '*' };
    return response.writeHead(200, headers).end(readFileSync(file));
  }
  let body = '';
  for await (const piece of request) body += piece;
  const answer = rest(service, `${request.method} ${pathname}`, body && JSON.parse(body));
  response
    .writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    .end(JSON.stringify(answer ?? { code: 'not-found' }));
}

function rest(service, call, body) {
  const agent = { id: 'agent_1', name: 'Ada', version: 1 };
  switch (call) {
    case 'GET /v1/workspaces':
      return { workspaces: [{ id: 'ws_1', name: 'Test' }] };
    case 'GET /v1/tenant':
      return { name: 'Test' };
    case 'GET /v1/workspaces/ws_1/agents':
      return { agents: [agent] };
    case 'GET /v1/workspaces/ws_1/agents/agent_1/tools':
      return { tools: [] };
    case 'GET /v1/workspaces/ws_1/agents/agent_1/knowledge-base':
      return { attachments: [] };
    case 'GET /v1/sessions':
      return { sessions: [] };
    case 'POST /v1/sessions': {
      const session = new Session(service, body);
      service.sessions.set(session.id, session);
      const url = (channel) => `${service.url.replace('http', 'ws')}/v1/realtime/${channel}/${session.id}?token=t`;
      return { id: session.id, status: 'pending', ws_url: url('voice'), chat_url: url('chat') };
    }
  }
  const [, id, member = ''] = call.match(/^\w+ \/v1\/sessions\/(\w+)\/?(\w*)$/) ?? [];
  const session = service.sessions.get(id);
  if (!session) return undefined;
  if (member === 'transcript') return { turns: session.turns };
  if (member === 'end') session.end('ended_by_api');
  const { status, modality, end_reason: reason } = session;
  return { id, status, modality, end_reason: reason, turn_count: session.turns.length };
}

let ids = 0;
const newID = (prefix) => `${prefix}_${++ids}`;

/** How loud 16-bit PCM is, in decibels below full scale. */
export function loudnessDB(pcm) {
  let sum = 0;
  for (let at = 0; at + 1 < pcm.length; at += 2) sum += (pcm.readInt16LE(at) / 0x8000) ** 2;
  return 10 * Math.log10(sum / (pcm.length / 2) || 1e-10);
}

const msOf = (pcm) => (pcm.length / 2 / wireHz) * 1000;

/** A tone as 16-bit PCM. */
function tone(ms) {
  const pcm = Buffer.alloc(Math.round((ms * wireHz) / 1000) * 2);
  for (let i = 0; i < pcm.length / 2; i++)
    pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / wireHz)), i * 2);
  return pcm;
}

class Session {
  id = newID('ses');
  status = 'in_progress';
  end_reason = '';
  turns = [];
  /** What clients sent, without their sound. */
  received = [];
  /** The addresses of the connections. */
  connections = [];
  /** The sound that was appended. */
  frames = [];
  /** How much sound was sent of each item. */
  sentMS = new Map();
  #sockets = {};
  #answer;
  #waiting = [];
  #notUnderstood = [];
  #heardMS = 0;
  #speechMS = 0;
  #silenceMS = 0;
  #utterance;
  #interrupting = false;
  #sounds = 0;
  #texts = new Map();

  constructor(service, body) {
    this.service = service;
    this.body = body;
    this.modality = body.modality;
  }

  join(channel, socket, url) {
    this.connections.push({ channel, lastEventID: url.searchParams.get('last_event_id') });
    this.#sockets[channel] = socket;
    this.#heardMS = this.#speechMS = this.#silenceMS = 0;
    socket.on('message', (data) => this.#take(channel, JSON.parse(data)));
    socket.on('close', () => {
      if (this.#sockets[channel] === socket) delete this.#sockets[channel];
    });
    const turnDetection = { type: 'server_vad', interrupt_response: true };
    this.#send(channel, {
      type: 'session.created',
      session: { id: this.id, audio: { input: { turn_detection: turnDetection } } },
    });
    if (this.service.greeting && this.connections.length === 1) this.#greet(channel);
  }

  /** Greets. The transcript has the greeting at once. */
  #greet(channel) {
    this.#respond(channel, '', this.service.greeting, '', this.#addTurn({ agent_text: this.service.greeting }));
  }

  #send(channel, event) {
    const id = newID(event.type === 'response.output_audio.delta' ? 'sound' : 'event');
    this.#sockets[channel]?.send(JSON.stringify({ event_id: id, ...event }));
  }

  #take(channel, event) {
    if (event.type !== 'input_audio_buffer.append') this.received.push({ channel, ...event });
    switch (event.type) {
      case 'input_audio_buffer.append':
        return this.#hear(Buffer.from(event.audio, 'base64'));
      case 'conversation.item.create':
        this.#typed = event.item.content[0].text;
        return this.#add(channel, {
          id: event.item.id ?? newID('item'),
          type: 'message',
          role: 'user',
          content: event.item.content,
        });
      case 'response.create':
        return this.#respond(channel, this.#typed);
      case 'output_audio_buffer.clear':
      case 'response.cancel':
        return this.#cut('client_cancelled');
      case 'conversation.item.truncate':
        return this.#truncate(event.item_id, event.audio_end_ms);
      case 'conversation.item.retrieve': {
        const transcript = this.#texts.get(event.item_id).heard;
        const content = [{ type: 'output_audio', transcript }];
        const item = { id: event.item_id, type: 'message', role: 'assistant', content };
        return this.#send(channel, { type: 'conversation.item.retrieved', item });
      }
    }
  }
  #typed = '';

  #add(channel, item) {
    this.#send(channel, { type: 'conversation.item.added', previous_item_id: null, item });
    this.#send(channel, { type: 'conversation.item.done', previous_item_id: null, item });
  }

  #hear(pcm) {
    const ms = msOf(pcm);
    this.frames.push(pcm);
    this.#heardMS += ms;
    if (!this.service.hears) {
      if (this.#sounds++ === 0)
        this.#send('voice', {
          type: 'error',
          error: { code: 'stt-not-configured', message: 'No transcriber is configured.' },
        });
      return;
    }
    const isSpeech = loudnessDB(pcm) > speechDB;
    this.#speechMS = isSpeech ? this.#speechMS + ms : 0;
    this.#silenceMS = isSpeech ? 0 : this.#silenceMS + ms;
    if (!this.#utterance && this.#speechMS >= startMS && this.service.listensTo-- > 0)
      this.#begin(this.#heardMS - this.#speechMS);
    if (this.#utterance && !this.#interrupting && this.#silenceMS >= endMS) this.#finish();
  }

  #begin(fromMS) {
    this.#utterance = { id: newID('item') };
    this.#send('voice', {
      type: 'input_audio_buffer.speech_started',
      item_id: this.#utterance.id,
      audio_start_ms: Math.round(fromMS),
    });
    this.#cut('turn_detected');
  }

  /** Has somebody speak over the agent, whatever the microphone hears, until stopInterrupting(). */
  interrupt() {
    if (this.#answer) this.#sendDue(this.#answer); // as much as a client can have, which it then drops
    this.#begin(this.#heardMS);
    this.#interrupting = true;
  }

  stopInterrupting() {
    this.#interrupting = false;
    this.#silenceMS = 0;
    this.#finish();
  }

  #finish() {
    const { id } = this.#utterance;
    this.#utterance = undefined;
    const transcript = this.service.hears.shift() ?? null;
    const head = { item_id: id, content_index: 0 };
    this.#send('voice', {
      type: 'input_audio_buffer.speech_stopped',
      item_id: id,
      audio_end_ms: Math.round(this.#heardMS - this.#silenceMS),
    });
    this.#send('voice', { type: 'input_audio_buffer.committed', item_id: id, previous_item_id: null });
    this.#add('voice', { id, type: 'message', role: 'user', content: [{ type: 'input_audio', transcript }] });
    if (transcript === null) {
      const error = { type: 'transcription_error', code: 'upstream-failed', message: 'The transcriber is down.' };
      this.#notUnderstood.push(id);
      return this.#send('voice', { type: 'conversation.item.input_audio_transcription.failed', ...head, error });
    }
    this.#send('voice', { type: 'conversation.item.input_audio_transcription.completed', ...head, transcript });
    this.#respond('voice', transcript, undefined, id);
  }

  #respond(channel, question, text = this.service.answers.shift() ?? 'All right.', spokenItem = '', turn) {
    if (this.#answer) return this.#waiting.push([channel, question, text, spokenItem, turn]);
    const answer = {
      channel,
      question,
      text,
      spokenItem,
      turn,
      response: newID('resp'),
      item: newID('item'),
      sentMS: 0,
    };
    const { response, item } = answer;
    const isSpoken = channel === 'voice';
    answer.place = { response_id: response, item_id: item, output_index: 0, content_index: 0 };
    this.#texts.set(item, { whole: text, heard: text });
    const shown = { id: item, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    this.#send(channel, { type: 'response.created', response: { id: response, status: 'in_progress' } });
    this.#send(channel, { type: 'response.output_item.added', response_id: response, output_index: 0, item: shown });
    this.#send(channel, { type: 'conversation.item.added', previous_item_id: null, item: shown });
    const kind = isSpoken ? 'response.output_audio_transcript.delta' : 'response.output_text.delta';
    for (const delta of text.match(/\S+\s*/g)) this.#send(channel, { type: kind, ...answer.place, delta });
    this.#answer = answer;
    if (!isSpoken) return this.#done('completed');
    answer.sound = tone(text.length * charMS);
    answer.began = Date.now();
    this.#speak();
  }

  /** Sends the sound that is due, and again until all is sent. */
  #speak() {
    const a = this.#answer;
    this.#sendDue(a);
    if (a.sound.length === 0) {
      this.#done('completed');
      return this.#next();
    }
    a.timer = setTimeout(() => this.#speak(), pieceMS);
  }

  #sendDue(a) {
    for (; a.sound.length > 0 && a.sentMS - (Date.now() - a.began) < leadMS;) {
      const piece = a.sound.subarray(0, (pieceMS * wireHz * 2) / 1000);
      a.sound = a.sound.subarray(piece.length);
      this.#send('voice', { type: 'response.output_audio.delta', ...a.place, delta: piece.toString('base64') });
      if (a.sentMS === 0 && a.spokenItem && this.service.times)
        this.#send('voice', { type: 'parlance.timing', response_id: a.response, ...this.service.times });
      a.sentMS += msOf(piece);
      this.sentMS.set(a.item, a.sentMS);
    }
  }

  /** Ends the answer in progress in the middle. */
  #cut(reason) {
    const a = this.#answer;
    if (!a) return;
    clearTimeout(a.timer);
    this.#done('cancelled', reason);
    // What was heard as far as the service knows; the client knows better.
    if (a.channel === 'voice') this.#truncate(a.item, Math.max(0, a.sentMS - leadMS));
    this.#next();
  }

  #done(status, reason) {
    const { channel, question, text, spokenItem, response, item, place, turn } = this.#answer;
    this.#answer = undefined;
    if (channel === 'voice') {
      this.#send(channel, { type: 'response.output_audio.done', ...place });
      this.#send(channel, { type: 'response.output_audio_transcript.done', ...place, transcript: text });
    }
    const items = [{ id: item, kind: 'assistant', text, spoken: channel === 'voice' }];
    if (spokenItem) items.unshift({ id: spokenItem, kind: 'user', text: question, spoken: true });
    for (const one of this.#notUnderstood.splice(0)) items.unshift({ id: one, kind: 'user', text: '', spoken: true });
    Object.assign(turn ?? this.#addTurn({}), { user_text: question, agent_text: text, items });
    const details = reason && { type: status, reason };
    this.#send(channel, {
      type: 'response.done',
      response: { id: response, status, status_details: details, output: [] },
    });
  }

  #addTurn(members) {
    const metrics = { total_ms: 1 };
    this.turns.push({ id: newID('turn'), index: this.turns.length, status: 'completed', metrics, ...members });
    return this.turns.at(-1);
  }

  #next() {
    if (this.#waiting.length > 0) this.#respond(...this.#waiting.shift());
  }

  /** Cuts an item to the words that were heard in as much of its sound. */
  #truncate(item, ms) {
    const { whole } = this.#texts.get(item);
    const heard = whole.slice(0, Math.round(ms / charMS)).replace(/\s*\S*$/, '');
    this.#texts.set(item, { whole, heard });
    for (const turn of this.turns)
      for (const one of turn.items) if (one.id === item) one.heard = { audio_end_ms: ms, text: heard };
    this.#send('voice', { type: 'conversation.item.truncated', item_id: item, content_index: 0, audio_end_ms: ms });
  }

  end(reason) {
    if (this.#answer) clearTimeout(this.#answer.timer);
    this.status = 'completed';
    this.end_reason = reason;
    for (const socket of Object.values(this.#sockets)) socket.close(1000, reason);
  }
}
