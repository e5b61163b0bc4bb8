// A spoken conversation with the WebSocketConnection of @elevenlabs/client, for which the session's
// URL is its signed URL: a question is answered from the knowledge base, aloud, and the user
// interrupts the next answer. Every server event is checked by the package's own declarations.
//
//   WS_URL=… node voice-elevenlabs.mjs QUESTION.wav INTERRUPTION.wav
//
// The files are as for voice-agents.mjs. Exits with 1 when a check fails.
import assert from 'node:assert/strict';
import { WebSocket } from 'ws';
import { elevenLabsEvents, watching } from './schemas.mjs';
import { ANSWER, loudness, play, samplesOf } from './voice-files.mjs';

globalThis.WebSocket = WebSocket; // Node 20 has none
const { WebSocketConnection } = await import('@elevenlabs/client');
const watch = watching({ '@elevenlabs/client': elevenLabsEvents() });
const [question, interruption] = process.argv.slice(2).map(samplesOf);

const events = [];
let sound = Buffer.alloc(0),
  arrived = () => {},
  fail;
const failed = new Promise((_, reject) => {
  fail = reject;
});
failed.catch(() => {});
const connection = await WebSocketConnection.create({ signedUrl: process.env.WS_URL });
connection.onMessage((event) => {
  try {
    watch.take(event);
  } catch (error) {
    fail(error);
  }
  if (event.type === 'ping') connection.sendMessage({ type: 'pong', event_id: event.ping_event.event_id });
  if (event.type === 'error') fail(new Error(JSON.stringify(event.error_event)));
  if (event.type === 'audio') sound = Buffer.concat([sound, Buffer.from(event.audio_event.audio_base_64, 'base64')]);
  events.push(event);
  arrived();
});

/** Waits for the newest event of a type that fits. */
async function until(type, fits = () => true) {
  const late = setTimeout(() => assert.fail(`no ${type}, after ${events.slice(-10).map((e) => e.type)}`), 180_000);
  for (;;) {
    const found = events.findLast((e) => e.type === type && fits(e));
    if (found) {
      clearTimeout(late);
      return found;
    }
    await Promise.race([failed, new Promise((resolve) => (arrived = resolve))]);
  }
}
const speak = (samples) => play(samples, (chunk) => connection.sendMessage({ user_audio_chunk: chunk.toString('base64') }));

assert.equal(connection.inputFormat.sampleRate, 24_000);
await speak(question);
const answer = await until('agent_response', (e) => ANSWER.test(e.agent_response_event.agent_response));
console.log(`  heard: ${(await until('user_transcript')).user_transcription_event.user_transcript}`);
while (sound.length < 96_000) await until('audio', () => sound.length >= 96_000);
console.log(`  said:  ${answer.agent_response_event.agent_response} (at ${loudness(sound).toFixed(0)} dB)`);
assert.ok(loudness(sound) > -40, 'the answer has no sound');
const first = answer.agent_response_event.event_id;

await speak(interruption); // it is long, and still being said
const interrupted = await until('interruption');
assert.ok(interrupted.interruption_event.event_id > first, 'the package would not drop the sound');
const { agent_response_correction_event: corrected } = await until('agent_response_correction');
console.log(`  cut to: ${corrected.corrected_agent_response}`);
assert.ok(corrected.corrected_agent_response.length < corrected.original_agent_response.length);
connection.close();
