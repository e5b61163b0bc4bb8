import { attachSources } from '../support/agents.js';
import { microphone } from '../support/microphone.js';
import { call, expect, service, test } from '../support/test.js';

test.use({ launchOptions: microphone(1.5, 'How are webhooks signed?', 12) });

const repeated = { timeout: 90_000 };

const agents = () => `workspaces/${service.workspace}/agents`;

/** An agent that is recorded, with the demo agent's sources. */
async function makeAgent(name: string): Promise<string> {
  const { id } = await call<{ id: string }>('POST', agents(), {
    name,
    instructions: 'You help.',
    first_message: 'Hello.',
    voice: { recording: { enabled: true } },
    memory: { enabled: false },
  });
  await attachSources(id);
  return id;
}

test('a conversation aloud: spoken to, answered, interrupted, muted, and heard again', async ({ open, look }, info) => {
  test.slow();
  const name = `Voice ${info.project.name} ${Date.now().toString(36)}`;
  const agent = await makeAgent(name);
  const page = await open(`/talk?agent=${agent}`);
  await page.getByRole('button', { name: 'Talk aloud' }).click();
  await page.getByRole('button', { name: 'Understood' }).click();
  const said = page.getByRole('region', { name: 'What was said' });
  const level = (label: string) =>
    page.getByRole('meter', { name: label }).evaluate((meter: HTMLMeterElement) => meter.value);
  await expect(said).toContainText('Hello.');

  // What lasts a moment comes again each time the microphone repeats itself.
  await expect.poll(() => level('Loudness of your microphone'), repeated).toBeGreaterThan(-40);
  await expect(said.getByRole('article', { name: 'The user says' }).first()).toContainText(/webhooks/i, repeated);
  await expect(page.getByText('The agent is speaking.')).toBeVisible(repeated);
  await expect.poll(() => level('Loudness of the agent'), repeated).toBeGreaterThan(-40);
  await expect(page.getByText('From the end of your speech:')).toBeVisible();
  await expect(page.getByText('first sound')).toBeVisible();

  // The microphone says it again while the agent still answers.
  await expect(said.locator('.unheard').first()).toBeAttached(repeated);
  await look('talk-voice');

  await page.getByRole('button', { name: 'Mute' }).click();
  await expect(page.getByRole('button', { name: 'Mute' })).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(() => level('Loudness of your microphone')).toBe(-60);
  await page
    .getByRole('button', { name: 'Stop the answer' })
    .click({ timeout: 3_000 })
    .catch(() => undefined); // it may be over
  await page.getByLabel('What you say').fill('And what is a key?');
  await page.keyboard.press('Enter');
  await expect(said.getByRole('article', { name: 'The user says' }).last()).toContainText('And what is a key?');
  await page.getByRole('button', { name: 'Stop talking' }).click();
  await expect(page.getByRole('meter', { name: 'Loudness of the agent' })).toHaveCount(0);
  await page.getByRole('searchbox', { name: 'Filter the events' }).fill('sent append');
  await expect(page.getByText(/\d+ × sound/).first()).toBeVisible();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await page.getByRole('link', { name: 'See this one whole' }).click();

  await page.getByRole('button', { name: 'Load the recording' }).click();
  const audio = page.locator('audio');
  await expect.poll(() => audio.evaluate((element: HTMLAudioElement) => element.duration)).toBeGreaterThan(3);
  await page.getByRole('button', { name: /^Play turn 1 from/ }).click();
  await expect.poll(() => audio.evaluate((element: HTMLAudioElement) => element.currentTime)).toBeGreaterThan(1);
  await audio.evaluate((element: HTMLAudioElement) => element.pause());
  await page
    .getByRole('button', { name: /^User at .*webhooks/i })
    .first()
    .click();
  await expect(page.locator('.unheard').first()).toBeAttached();
  await look();
  await call('DELETE', `${agents()}/${agent}`);
});
