// What the specs are written with: a page of the console that is signed in, fails on errors in the
// browser's console, and is checked by axe.

import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';

export { expect };

const env = (name: string) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};

/** The service under test. */
export const service = {
  get api() {
    return env('PARLANCE_BASE_URL');
  },
  get key() {
    return env('PARLANCE_API_KEY');
  },
  get agent() {
    return env('PARLANCE_AGENT_ID');
  },
  get workspace() {
    return env('PARLANCE_WORKSPACE_ID');
  },
  /** Of `parlance dev`: its certificate for localhost is in tls/. */
  get dataDir() {
    return env('DATA_DIR');
  },
  /** CONSOLE=http://… is where `npx vite preview` serves a console that is being worked on. */
  get console() {
    return process.env['CONSOLE'] ?? env('PARLANCE_BASE_URL').replace(/v1$/, 'console/');
  },
};

/** Calls the REST API: what a spec needs to be there, or to see that it is. Throws when it fails. */
export async function call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${service.api}/${path}`, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text ? JSON.parse(text) : {}) as T;
}

/** Chooses in a Select, by its label and the beginning of the choice. It does not open before it has choices. */
export async function choose(page: Page, label: string, choice: string | RegExp): Promise<void> {
  const option = page.getByRole('option', { name: choice });
  await expect(async () => {
    if (!(await option.isVisible())) await page.getByRole('button', { name: new RegExp(`${label}$`) }).click();
    await option.click({ timeout: 10_000 });
  }).toPass();
}

/** Holds requests to a URL from now on: `came` is when the first was sent, go() lets all of them through. */
export async function hold(page: Page, url: string): Promise<{ came: Promise<void>; go(): void }> {
  let arrive = () => {};
  let go = () => {};
  const came = new Promise<void>((resolve) => (arrive = resolve));
  const released = new Promise<void>((resolve) => (go = resolve));
  await page.route(url, async (route) => {
    arrive();
    await released;
    await route.continue();
  });
  return { came, go };
}

/** Shows the filters of a list, which are folded on a telephone. */
export async function unfold(page: Page): Promise<void> {
  const filters = page.locator('.filters').first();
  await filters.waitFor({ state: 'attached' });
  if (!(await filters.isVisible())) await page.getByRole('button', { name: 'Filters', exact: true }).click();
}

interface Fixtures {
  /** Opens a page of the console, signed in: open('/keys'). */
  open(path: string): Promise<Page>;
  /**
   * Checks the page by axe; serious findings fail. With SCREENSHOTS=1 keeps a picture of that name
   * in docs/console/.
   */
  look(name?: string): Promise<void>;
  /** Errors that a spec provokes: texts of the browser's console that do not fail it. */
  tolerate(...texts: RegExp[]): void;
}

export const test = base.extend<Fixtures & { tolerated: RegExp[] }>({
  // Agents are asked one by one for their names and what they have. Another spec may delete one
  // meanwhile.
  tolerated: async ({}, use) => use([/404.*(GetAgent|ListAgentTools|ListSourceAttachments)/]),
  tolerate: async ({ tolerated }, use) => use((...texts) => void tolerated.push(...texts)),
  page: async ({ page, tolerated }, use) => {
    const errors: string[] = [];
    const note = (text: string) => tolerated.some((known) => known.test(text)) || errors.push(text);
    page.on('console', (message) => {
      const { url } = message.location();
      const isOurs = url === '' || url.startsWith(new URL(service.console).origin); // not of the page on which people sign in
      if (message.type() === 'error' && isOurs) note(`${message.text()} ${url}`);
    });
    page.on('pageerror', (error) => note(error.stack ?? error.message));
    await use(page);
    expect(errors, 'errors in the console of the browser').toEqual([]);
  },
  open: async ({ page }, use) => {
    await use(async (path) => {
      await page.addInitScript((key) => sessionStorage.setItem('parlance.key', key), service.key);
      await page.goto(`${service.console}#${path}`);
      await expect(page.locator('h1')).toBeVisible();
      return page;
    });
  },
  look: async ({ page }, use, info) => {
    await use(async (name) => {
      await expect(page.locator('.loading')).toHaveCount(0);
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(
        serious.map(
          ({ id, nodes }) =>
            `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
        ),
      ).toEqual([]);
      const width = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(width, 'the page is wider than the window').toBeLessThanOrEqual(0);
      if (name && process.env['SCREENSHOTS'])
        await page.screenshot({
          path: new URL(`../../../docs/console/${name}-${info.project.name}.png`, import.meta.url).pathname,
          fullPage: false,
          animations: 'disabled',
        });
    });
  },
});
