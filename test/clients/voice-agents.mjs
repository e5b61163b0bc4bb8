// A spoken conversation with @openai/agents-realtime: a question is answered from the knowledge
// base, aloud; the user interrupts the next answer, and the package is told to stop playing. Every
// server event is checked by the packages' own schemas.
//
//   WS_URL=… node voice-agents.mjs QUESTION.wav INTERRUPTION.wav
//
// The files are mono 16-bit PCM at 24 kHz. What is said in them, and what must be answered, are in
// voice-files.mjs. Exits with 1 when a check fails.
import assert from 'node:assert/strict';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents-realtime';
import { agentsEvents, openaiEvents, watching } from './schemas.mjs';
import { ANSWER, loudness, play, samplesOf } from './voice-files.mjs';

const watch = watching({ '@openai/agents-realtime': await agentsEvents(), 'openai': openaiEvents() });
const [question, interruption] = process.argv.slice(2).map(samplesOf);
const session = new RealtimeSession(new RealtimeAgent({ name: 'Keeper' }), {
  transport: new OpenAIRealtimeWebSocket({ url: process.env.WS_URL }),
});

const types = [];
let sound = Buffer.alloc(0),
  interrupted = 0;
let arrived = () => {};
const failed = new Promise((_, reject) => {
  session.on('error', ({ error }) => reject(new Error(`the session has an error: ${JSON.stringify(error?.error ?? error)}`)));
  process.once('uncaughtException', reject); // the package throws for an unexpected event
  session.transport.on('*', (event) => {
    try {
      watch.take(event);
    } catch (error) {
      reject(error);
    }
    types.push(event.type);
    arrived();
  });
});
failed.catch(() => {});
session.on('audio', ({ data }) => {
  sound = Buffer.concat([sound, Buffer.from(data)]);
  arrived();
});
session.on('audio_interrupted', () => {
  interrupted++;
  arrived();
});

/** Waits until something holds. */
async function until(holds, what) {
  const late = setTimeout(() => assert.fail(`${what} did not happen, after ${types.slice(-20)}`), 180_000);
  while (!holds()) await Promise.race([failed, new Promise((resolve) => (arrived = resolve))]);
  clearTimeout(late);
}
const count = (type) => types.filter((t) => t === type).length;
const said = () =>
  session.history.filter((item) => item.role === 'assistant').map((item) => item.content.map((c) => c.transcript ?? c.text).join(''));

await session.connect({ apiKey: 'unused' });
await until(() => count('session.updated') > 0, 'session.updated');

await play(question, (chunk) => session.sendAudio(chunk.buffer.slice(chunk.byteOffset, chunk.byteOffset + chunk.byteLength)));
await until(() => count('response.done') === 1, 'the answer');
const heard = session.history.find((item) => item.role === 'user');
console.log(`  heard: ${heard.content[0].transcript}`);
console.log(`  said:  ${said()[0]} (${(sound.length / 48_000).toFixed(1)} s of sound at ${loudness(sound).toFixed(0)} dB)`);
assert.match(said()[0], ANSWER);
assert.ok(sound.length > 48_000 && loudness(sound) > -40, 'the answer has no sound');
assert.equal(interrupted, 0, 'nobody interrupted the first answer');

sound = Buffer.alloc(0);
await play(question, (chunk) => session.sendAudio(chunk.buffer.slice(chunk.byteOffset, chunk.byteOffset + chunk.byteLength)));
await until(() => sound.length > 48_000, 'a second of the next answer');
await play(interruption, (chunk) => session.sendAudio(chunk.buffer.slice(chunk.byteOffset, chunk.byteOffset + chunk.byteLength)));
await until(() => interrupted > 0, 'audio_interrupted');
await until(() => count('conversation.item.truncated') > 0, 'conversation.item.truncated');
await until(() => count('response.done') >= 2, 'the end of the interrupted answer');
console.log(`  interrupted after ${(sound.length / 48_000).toFixed(1)} s of sound`);
session.close();
watch.done?.();
