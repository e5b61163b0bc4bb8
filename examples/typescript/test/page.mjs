// A page with a conversation, in Chromium.
import { chromium } from 'playwright-core';
import { patienceMs } from './programs.mjs';

/** Opens a page, asks a question, and returns when the answer is shown. `use` gets the page then. */
export async function talk(url, use = async () => undefined) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
    timeout: patienceMs,
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(patienceMs);
    page.on('pageerror', (error) => console.error(error));
    await page.goto(url);
    await page.getByText('Connected.').waitFor();
    await page.getByLabel('Your message').fill('How are webhooks signed?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/HMAC-SHA256/).first().waitFor();
    await use(page);
  } finally {
    await browser.close();
  }
}
