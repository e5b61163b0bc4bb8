// Measures how long the console takes until something is seen and until the overview is whole,
// beside an answer of the same server that has no content. `npm run bench`, with the service's
// PARLANCE_* set.

import { chromium } from '@playwright/test';

const runs = 7;
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const { PARLANCE_BASE_URL: api = '', PARLANCE_API_KEY: key = '' } = process.env;
const page = api.replace(/v1$/, 'console/');

/** The milliseconds from the navigation to the first content, and to the first plot. */
async function open(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const tab = await context.newPage();
  await tab.addInitScript((secret) => sessionStorage.setItem('parlance.key', secret), key);
  await tab.goto(page);
  await tab.locator('.chart canvas').first().waitFor();
  const seen = await tab.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    whole: performance.now(),
    bytes: performance.getEntriesByType('resource').reduce((sum, entry) => sum + entry.transferSize, 0),
  }));
  await context.close();
  return seen;
}

const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const opened = [];
const floor = [];
for (let run = 0; run < runs; run++) {
  const began = performance.now();
  await (await fetch(api.replace(/v1$/, 'healthz'))).text();
  floor.push(performance.now() - began);
  opened.push(await open(browser));
}
await browser.close();
console.log(
  JSON.stringify({
    first_paint_ms: Math.round(median(opened.map(({ paint }) => paint))),
    overview_ms: Math.round(median(opened.map(({ whole }) => whole))),
    transferred_bytes: median(opened.map(({ bytes }) => bytes)),
    floor_ms: Number(median(floor).toFixed(1)),
  }),
);
