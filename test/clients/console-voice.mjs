// Talks with the console in a headless Chromium whose microphone plays a recording.
//
//	node console-voice.mjs
//	VOICE=real PARLANCE_BASE_URL=… PARLANCE_API_KEY=… node console-voice.mjs
//
// Without VOICE it talks with the scripted service of voice-service.mjs. With VOICE=real it talks
// with the demo agent of a `parlance dev` whose transcriber is that of transcriber.mjs, or a real
// one. SCREENSHOT=file.png keeps a picture of the conversation. Exits with 1 when a check fails.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { open } from './browser.mjs';
import { soundParts } from './console-sound.mjs';
import { microphone, record } from './recording.mjs';
import { patience } from './talk.mjs';
import { charMS, loudnessDB, serve } from './voice-service.mjs';

const seen = (words) => console.log(`  ✓ ${words}`);
const long =
  'We open at nine and close at six. On Saturdays we open at ten and close at four. On Sundays we are closed,' +
  ' and so we are on public holidays, of which there are eleven this year, three of them in May.';

/** Opens a console, with a key. */
async function enter(page, url) {
  await page.resize(1280, 1000);
  await page.go(`${url}/console/`);
  await page.type('API key', process.env.PARLANCE_API_KEY ?? 'prl_test');
  await page.key('Enter');
  await page.until(() =>
    [...document.querySelectorAll('button')].find((b) => b.textContent === 'Start and talk' && !b.disabled),
  );
}

const who = (page, words) =>
  page.until((wanted) => document.querySelector('.voice .who')?.textContent === wanted, words);
const connected = (page) => page.until(() => document.querySelector('.state')?.textContent === 'Connected.');
const level = (page, name) => page.run((label) => document.querySelector(`meter[aria-label="${label}"]`).value, name);
const soundOf = (page, name, above) =>
  page.until((label, db) => document.querySelector(`meter[aria-label="${label}"]`).value > db, name, above);

/** Presses the button that talking was begun with. */
async function stopTalking(page) {
  await page.run(() => document.querySelector('.voice button').click());
  await page.until(() => document.querySelector('.voice button').textContent === 'Talk');
}

/** Waits until a function of this program returns a truthy value, and returns it. */
async function until(fn) {
  const late = Date.now() + 30_000;
  for (;;) {
    const value = fn();
    if (value) return value;
    if (Date.now() > late) throw new Error(`not within 30 s: ${fn}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function type(page, text) {
  await page.type('What you say', text);
  await page.key('Enter');
}

/** A conversation with the scripted service. */
async function scripted() {
  const service = await serve({
    hears: ['What are your opening hours?', 'Stop, that is enough.'],
    answers: [long, 'All right. Ask me anything else that you would like to know.'],
  });
  const page = await open(...microphone(record(0.5, 'What are your opening hours?', 1), { repeats: true }));
  try {
    await enter(page, service.url);
    await soundParts(page);
    seen('resampling, frames, and what is played');
    await earlyGreeting(page);

    await page.press('Start a session');
    await connected(page);
    await page.press('Talk');
    await page.sees('This session takes text only.');
    await page.press('Start one with the same settings');
    await page.sees('Headphones help');
    await page.press('Understood');
    const session = await until(() => service.sessions.size === 2 && service.last());
    assert.equal(session.body.modality, 'voice+text');
    seen('a session of text offers another one that can be talked with');

    await asked(page, session);
    await interrupted(page, session);
    await muted(page, session);
    await typed(page, session);
    await dropped(page, session);
    await unclear(page, session);
    await stopped(page, session);
    await left(page, session);
    await ended(page, service, session);
    assert.deepEqual(page.complaints, []);
  } catch (error) {
    console.error(page.complaints.join('\n'));
    throw error;
  } finally {
    await page.close();
    service.close();
  }
}

/** The transcript has a greeting before the page hears of it, and later how much of it was heard. */
async function earlyGreeting(page) {
  const shown = await page.run(async () => {
    const { Now } = await import(new URL('js/now.js', document.baseURI.replace(/#.*/, '')));
    const now = new Now();
    const turns = [{ id: 'turn_1', agent_text: 'Hello, I am Ada.' }];
    const steps = [];
    const step = (...events) => {
      for (const event of events) now.take(event);
      steps.push(now.element.textContent);
    };
    now.settle(turns, now.over);
    step(
      { type: 'response.created', response: { id: 'resp_1' } },
      { type: 'response.output_audio_transcript.delta', response_id: 'resp_1', item_id: 'item_1', delta: 'Hello, I ' },
      { type: 'response.output_audio_transcript.delta', response_id: 'resp_1', item_id: 'item_1', delta: 'am Ada.' },
      { type: 'response.done', response: { id: 'resp_1' } },
    );
    const item = { id: 'item_1', role: 'assistant', content: [{ type: 'output_audio', transcript: 'Hello,' }] };
    step({ type: 'conversation.item.retrieved', item });
    now.settle(turns, now.over);
    step();
    return steps;
  });
  assert.deepEqual(shown, ['Agent: Hello, I am Ada.', 'Agent: Hello, Not heard:  I am Ada.', '']);
}

/** A question is asked aloud, and answered. */
async function asked(page, session) {
  await soundOf(page, 'Loudness of your microphone', -40);
  await page.sees('What are your opening hours?');
  await who(page, 'The agent is speaking.');
  await soundOf(page, 'Loudness of the agent', -30);
  await page.sees('three of them in May.');
  const bar = await page.until(
    () =>
      document.querySelector('.latency p')?.textContent === 'From the end of your speech:' &&
      document.querySelector('.latency').innerText,
  );
  for (const words of ['believed to be over 300 ms', 'transcript 450 ms', 'first token 650 ms', 'first sound 730 ms'])
    assert.ok(bar.includes(words), `no ${words} in ${bar}`);
  assert.equal(await page.run(() => document.querySelectorAll('.latency rect').length), 4);
  const update = session.received.find((e) => e.type === 'session.update' && e.channel === 'voice');
  assert.deepEqual(update.session.audio.input.format, { type: 'audio/pcm', rate: 24000 });
  assert.deepEqual([...new Set(session.frames.map((f) => f.length))], [960], 'frames are 20 ms of 24 kHz');
  const loudest = Math.max(...session.frames.map(loudnessDB));
  assert.ok(loudest > -30, `the recording arrives at ${loudest} dB`);
  seen('a spoken question, its words, the answer as sound and words, and where the time went');
}

/** The agent is interrupted. */
async function interrupted(page, session) {
  await until(() => [...session.sentMS.values()].at(-1) > 1500);
  session.interrupt();
  const cut = await until(() => session.received.find((e) => e.type === 'conversation.item.truncate'));
  const sentMS = session.sentMS.get(cut.item_id);
  await who(page, 'You are speaking.');
  await page.until(() => document.querySelector('meter[aria-label="Loudness of the agent"]').value <= -60);
  assert.equal(cut.content_index, 0);
  assert.ok(
    cut.audio_end_ms > 0 && cut.audio_end_ms < session.spokenForMS + 100,
    `${cut.audio_end_ms} of ${sentMS} ms were played within ${session.spokenForMS} ms`,
  );
  const rest = await page.until(() => document.querySelector('.turn .unheard')?.textContent);
  assert.ok(
    long.endsWith(rest.replace(' Not heard: ', '')) && rest.length < long.length - cut.audio_end_ms / charMS + 30,
    rest,
  );
  if (!process.env.SCREENSHOT) session.service.times = undefined;
  session.stopInterrupting();
  await page.sees('Stop, that is enough.');
  await page.sees('All right. Ask me anything else');
  if (process.env.SCREENSHOT) await picture(page);
  else
    await page.until(() =>
      /as this page sees it:[^]*believed[^]*transcript[^]*first token[^]*first sound/.test(
        document.querySelector('.latency').innerText,
      ),
    );
  seen(`an interruption: silence at once, ${cut.audio_end_ms} of ${sentMS} ms were heard, and the rest is grey`);
}

/** The microphone is muted with the space bar. */
async function muted(page, session) {
  await soundOf(page, 'Loudness of your microphone', -40);
  await page.run(() => [...document.querySelectorAll('button')].find((b) => b.textContent === 'Mute').focus());
  await page.key(' ', 'Space');
  await page.until(() => document.querySelector('.voice [aria-pressed="true"]'));
  const isSilent = (frame) => frame.every((byte) => byte === 0);
  await until(() => isSilent(session.frames.at(-1)));
  const before = session.frames.length;
  await until(() => session.frames.length > before + 250); // the recording is shorter, and was repeated
  assert.ok(session.frames.slice(before).every(isSilent), 'something is sent while the microphone is muted');
  assert.equal(await level(page, 'Loudness of your microphone'), -60);
  await page.key(' ', 'Space');
  await page.until(() => document.querySelector('.voice [aria-pressed="false"]'));
  await soundOf(page, 'Loudness of your microphone', -40);
  seen('the space bar mutes, and silence is sent');
}

/** What is typed meanwhile is answered aloud. */
async function typed(page, session) {
  await type(page, 'And on Mondays?');
  const item = await until(() => session.received.find((e) => e.item?.content?.[0].text === 'And on Mondays?'));
  assert.equal(item.channel, 'voice');
  await page.until(() =>
    [...document.querySelectorAll('.turn .said.user .text')].some((e) => e.textContent === 'And on Mondays?'),
  );
  assert.equal(await page.run(() => document.querySelector('.now').childElementCount), 0, 'an exchange is shown twice');
  seen('what is typed meanwhile goes the same way');
}

/** Both connections are lost, and come back. */
async function dropped(page, session) {
  const before = session.connections.length;
  session.soundBeforeMS = session.frames.length * 20;
  session.service.answers.push(long);
  await type(page, 'Tell me more.');
  await who(page, 'The agent is speaking.');
  await page.press('Drop the connection');
  await page.sees('dropped on purpose');
  await page.press('Reconnect');
  await until(() => session.connections.length === before + 2);
  const back = session.connections.slice(before).find((c) => c.channel === 'voice');
  assert.match(back.lastEventID, /^event_/, 'what is asked for is behind sound, which nobody keeps');
  const frames = session.frames.length;
  await until(() => session.frames.length > frames + 10);
  await page.press('Stop the answer');
  await who(page, 'Nobody is speaking.');
  seen('a dropped connection comes back behind the last event, and the microphone with it');
}

/** Something is not understood. */
async function unclear(page, session) {
  session.interrupt();
  await who(page, 'You are speaking.');
  session.stopInterrupting();
  await page.sees('Not understood: The transcriber is down.');
  const believed = await page.run(() => document.querySelector('.latency ol').innerText);
  const [, n, unit] = believed.match(/over ([\d.]+) (ms|s)/);
  assert.ok(
    n * (unit === 's' ? 1000 : 1) < session.soundBeforeMS,
    `sound of the connection before counts: ${believed}`,
  );
  await type(page, 'I have asked about Mondays.');
  await page.until(() =>
    [...document.querySelectorAll('.turn .said.user .text')].some((e) => e.textContent.endsWith('about Mondays.')),
  );
  await page.until(() => document.querySelector('.now').childElementCount === 0);
  seen('what is not understood is said, and gone with the next turn');
}

/** An answer is stopped, and then talking. */
async function stopped(page, session) {
  const truncates = () => session.received.filter((e) => e.type === 'conversation.item.truncate');
  for (const [press, sent] of [
    [() => page.press('Stop the answer'), 'response.cancel'],
    [() => stopTalking(page), 'output_audio_buffer.clear'],
  ]) {
    const before = truncates().length;
    session.service.answers.push(long);
    await type(page, 'Once more.');
    await who(page, 'The agent is speaking.');
    await press();
    await page.until(() => document.querySelector('meter[aria-label="Loudness of the agent"]').value <= -60);
    const { item_id: item } = await until(() => truncates()[before]);
    assert.ok(session.received.some((e) => e.type === sent));
    assert.ok(session.sentMS.get(item) < long.length * charMS, 'the answer was said to its end');
  }
  await type(page, 'In writing, please.');
  await until(() =>
    session.received.some((e) => e.channel === 'chat' && e.item?.content?.[0].text === 'In writing, please.'),
  );
  seen('“Stop the answer” and “Stop” silence the agent, and the conversation goes on in writing');
}

/** Another view is looked at: nobody is heard there. */
async function left(page, session) {
  await page.press('Talk');
  const before = session.frames.length;
  await until(() => session.frames.length > before + 5);
  assert.equal(
    await page.run(() => document.querySelector('.voice .notice')?.textContent),
    undefined,
    'the hint came again',
  );
  await page.run(() => {
    location.hash = '#sessions';
  });
  await page.until(() => !document.querySelector('.live'));
  await page.run(() => {
    location.hash = '#talk';
  });
  await page.until(() => document.querySelector('.voice button')?.textContent === 'Talk');
  seen('the microphone is off behind another view');
}

/** The session ends while the agent says goodbye. */
async function ended(page, service, session) {
  await page.press('Talk');
  await who(page, 'Nobody is speaking.');
  session.service.answers.push('Goodbye, and come again when there is something else that you would like to know.');
  await type(page, 'Goodbye.');
  await who(page, 'The agent is speaking.');
  await page.until(() => document.querySelector('.now').childElementCount === 0); // all of it was sent
  session.end('end_call');
  await page.sees('The agent ended the conversation.');
  await page.until(() => document.querySelector('.voice button').disabled);
  const frames = session.frames.length;
  assert.equal(await page.run(() => document.querySelector('.voice .who').textContent), '');
  assert.equal(session.frames.length, frames);

  service.greeting = 'Hello, I am Ada. Is there anything that I can do for you on such a fine day?';
  await page.press('Another session');
  await page.press('Start and talk');
  await page.sees('Hello, I am Ada.');
  await who(page, 'The agent is speaking.');
  const [first] = service.last().connections;
  assert.equal(first.channel, 'voice', 'the greeting is not spoken');
  await page.press('Stop the answer');
  await page.until(() => document.querySelector('.turn .unheard'));
  await page.until(() => document.querySelector('.now').childElementCount === 0);
  assert.equal(await page.run(() => document.querySelectorAll('.said.agent').length), 1, 'the greeting is shown twice');
  seen('an end of the session ends it, and another one begins with a spoken greeting');
}

/** A service without a transcriber, and a browser without a microphone. */
async function without() {
  const service = await serve({
    hears: undefined,
    answers: ['It is nine. Shall I tell you as well what time it is elsewhere?', 'It is ten.'],
  });
  const recording = record(0.2, 'What time is it?', 1);
  let page = await open(...microphone(recording));
  try {
    await enter(page, service.url);
    await page.press('Start and talk');
    await page.sees('nothing that understands speech');
    await connected(page);
    await type(page, 'What time is it?');
    await page.sees('It is nine.');
    await soundOf(page, 'Loudness of the agent', -30);
    const frames = service.last().frames.length;
    await who(page, 'Type; the agent answers aloud.');
    assert.equal(service.last().frames.length, frames, 'the microphone stays on');
    assert.equal(await page.run(() => document.body.innerText.split('PARLANCE_STT_BASE_URL').length), 2);
    assert.deepEqual(page.complaints, []);
    seen('without a transcriber it says what to do, and answers aloud what is typed');
    await page.close();

    page = await open('--use-fake-device-for-media-stream', '--deny-permission-prompts');
    await enter(page, service.url);
    await page.press('Start and talk');
    await page.sees('does not let this page use the microphone');
    await connected(page);
    await type(page, 'What time is it?');
    await page.sees('It is ten.');
    assert.deepEqual(page.complaints, []);
    seen('without a microphone it says why, and the conversation goes on in writing');
  } finally {
    await page.close();
    service.close();
  }
}

/** A conversation with a service: a question, an answer, an interruption. */
async function real() {
  const page = await open(
    ...microphone(record(1.5, 'How are webhooks signed?', 5, 'Stop. That is enough for now, thank you.', 2)),
  );
  try {
    await enter(page, new URL(process.env.PARLANCE_BASE_URL).origin);
    await page.press('Start and talk');
    await who(page, 'You are speaking.');
    await who(page, 'The agent is speaking.');
    await page.until(() => document.querySelector('.said.user .text')?.textContent.length > 3);
    await page.until(() => document.querySelector('.latency p')?.textContent === 'From the end of your speech:');
    console.log(`    ${await page.run(() => document.querySelector('.latency ol').innerText.replaceAll(/\s+/g, ' '))}`);
    await soundOf(page, 'Loudness of the agent', -50);
    await who(page, 'You are speaking.');
    await page.until(() => document.querySelector('.turn .unheard, .now .unheard'));
    await page.type('Filter the events', '→ conversation.item.truncate');
    console.log(`    ${await page.until(() => document.querySelector('.events summary')?.textContent)}`);
    await stopTalking(page);
    await type(page, 'And which file types are there?');
    await page.until(() =>
      [...document.querySelectorAll('.turn .said.user .text')].some((e) => e.textContent.startsWith('And which')),
    );
    await page.press('End the session');
    await page.sees('Close code 1000');
    assert.deepEqual(page.complaints, []);
    seen('a question, an answer and an interruption with the service');
  } catch (error) {
    console.error(page.complaints.join('\n'));
    throw error;
  } finally {
    await page.close();
  }
}

/** The picture for the documentation: an answer that was interrupted, and another one. */
async function picture(page) {
  await page.resize(1180, 900);
  await soundOf(page, 'Loudness of the agent', -30);
  await page.sees('first sound');
  writeFileSync(process.env.SCREENSHOT, await page.screenshot());
  await page.resize(1280, 1000);
}

const check = process.env.VOICE === 'real' ? real : () => scripted().then(without);
await patience(check(), 300_000);
