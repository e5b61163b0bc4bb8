// Talks with the widget in a browser whose microphone plays a recording, and with the scripted
// service of test/clients/voice-service.mjs.
//
//	(cd ../clients && npm ci) && node voice.mjs
//
// SITE and CHROMIUM as in widget.mjs. Exits with 1 when a check fails.
import assert from 'node:assert/strict';
import { microphone, record } from '../clients/recording.mjs';
import { charMS, loudnessDB, serve } from '../clients/voice-service.mjs';
import { answer, browser, findings, open, say } from './page.mjs';
import { cleanUp, site, until } from './site.mjs';

const seen = (words) => console.log(`  ✓ ${words}`);
const long =
  'We open at nine and close at six. On Saturdays we open at ten and close at four. On Sundays we are closed,' +
  ' and so we are on public holidays, of which there are eleven this year, three of them in May.';

const who = (page, words) => page.locator('.voice .who', { hasText: words }).waitFor();

async function asked(page, session) {
  await page.getByRole('button', { name: 'Talk', exact: true }).click();
  await page.locator('.user .bubble', { hasText: 'What are your opening hours?' }).waitFor();
  await who(page, 'The assistant is speaking');
  const update = session.received.find((e) => e.type === 'session.update' && e.channel === 'voice');
  assert.deepEqual(update.session.audio.input.format, { type: 'audio/pcm', rate: 24000 });
  assert.deepEqual([...new Set(session.frames.map((f) => f.length))], [960], 'frames are 20 ms of 24 kHz');
  assert.ok(Math.max(...session.frames.map(loudnessDB)) > -30, 'the recording arrives');
  seen('a spoken question, and a spoken answer');
}

async function interrupted(page, session) {
  await until('more than a second was sent', () => [...session.sentMS.values()].at(-1) > 1500);
  session.interrupt();
  const cut = await until('the cut', () => session.received.find((e) => e.type === 'conversation.item.truncate'));
  await who(page, 'You are speaking');
  const sentMS = session.sentMS.get(cut.item_id);
  assert.ok(cut.audio_end_ms > 0 && cut.audio_end_ms <= sentMS, `${cut.audio_end_ms} of ${sentMS} ms were played`);
  const rest = await page.locator('.unheard').textContent();
  const unheard = rest.replace('Not heard: ', '');
  assert.ok(long.endsWith(unheard) && unheard.length < long.length - cut.audio_end_ms / charMS + 30, rest);
  session.stopInterrupting();
  await answer(page, 'All right. Ask me anything else');
  seen(`an interruption: ${cut.audio_end_ms} ms were heard, and the rest is grey`);
}

async function muted(page, session) {
  // Not earlier: axe may take longer than the answer that is interrupted.
  assert.deepEqual(await findings(page), []);
  await page.getByRole('button', { name: 'Mute', exact: true }).click();
  await page.getByRole('button', { name: 'Unmute' }).waitFor();
  await until('silence is sent', () => session.frames.at(-1).every((byte) => byte === 0));
  await page.getByRole('button', { name: 'Unmute' }).click();
  await until('sound is sent', () => session.frames.at(-1).some((byte) => byte !== 0));
  seen('mute sends silence');
}

async function typed(page, session) {
  session.service.answers.push(long.repeat(5));
  await say(page, 'And on Mondays?');
  const item = await until('the message', () => session.received.find((e) => e.item?.content?.[0].text === 'And on Mondays?'));
  assert.equal(item.channel, 'voice');
  await who(page, 'The assistant is speaking');
  await page.getByRole('button', { name: 'Stop the answer' }).click();
  await until('the answer stops', () => session.received.some((e) => e.type === 'response.cancel'));
  await page.getByRole('button', { name: 'Stop the answer' }).waitFor({ state: 'detached' });
  seen('what is typed meanwhile is answered aloud, and can be stopped');
}

async function stopped(page, session) {
  const talk = page.getByRole('button', { name: 'Talk', exact: true });
  const stop = page.getByRole('button', { name: 'Stop talking' });
  await holdFrames(page);
  await stop.click();
  await microphoneOff(session);
  await page.getByPlaceholder('Write a message').fill('In');
  assert.deepEqual([await stop.count(), await talk.count()], [1, 0], 'one picture of the microphone, also between two frames');
  await releaseFrames(page);
  await talk.waitFor();
  await stop.waitFor({ state: 'detached' });
  await say(page, 'In writing, please.');
  const isWritten = (e) => e.channel === 'chat' && e.item?.content?.[0].text === 'In writing, please.';
  await until('it comes in writing', () => session.received.some(isWritten));
  await talk.click();
  await who(page, 'Listening');
  await page.getByRole('button', { name: 'Close the chat' }).first().click();
  assert.ok((await microphoneOff(session)) > 0);
  seen('talking ends with its button, and when the panel is closed');
}

/** Waits until no sound comes any more. Returns how many frames came. */
function microphoneOff(session) {
  return until('the microphone is off', async () => {
    const { length } = session.frames;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return session.frames.length === length && length;
  });
}

/** Has the page draw nothing for its next frames until they are released, as on a slow machine. */
function holdFrames(page) {
  return page.evaluate(() => {
    const { requestAnimationFrame } = window;
    const held = [];
    window.requestAnimationFrame = (draw) => held.push(draw);
    window.releaseFrames = () => {
      window.requestAnimationFrame = requestAnimationFrame;
      for (const draw of held) requestAnimationFrame(draw);
    };
  });
}

const releaseFrames = (page) => page.evaluate(() => window.releaseFrames());

async function denied(chromium, url) {
  const page = await open(chromium, url, {
    prepare: (page) =>
      page.addInitScript(() => {
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
      }),
  });
  await page.locator('.launcher').click();
  await page.getByRole('button', { name: 'Talk', exact: true }).click();
  await page.getByText('The microphone is not allowed.').waitFor();
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  seen('a microphone that is not allowed');
}

const service = await serve({
  hears: ['What are your opening hours?', 'Stop, that is enough.'],
  answers: [long, 'All right. Ask me anything else that you would like to know.'],
});
const chromium = await browser(
  ...microphone(record(0.5, 'What are your opening hours?', 1), { repeats: true }),
  '--autoplay-policy=no-user-gesture-required',
);
try {
  const url = await site({ PARLANCE_BASE_URL: `${service.url}/v1`, PARLANCE_API_KEY: 'prl_test', PARLANCE_AGENT_ID: 'agent_1' });
  const page = await open(chromium, url, { permissions: ['microphone'] });
  await page.locator('.launcher').click();
  const session = await until('the session', () => service.last());
  await until('the connection', () => session.connections.length === 1);
  await asked(page, session);
  await interrupted(page, session);
  await muted(page, session);
  await typed(page, session);
  await stopped(page, session);
  assert.deepEqual(page.complaints, []);
  await denied(chromium, url);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await chromium.close();
  service.close();
  await cleanUp();
}
