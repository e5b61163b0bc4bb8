// A page in Chromium. It has the origin of a server that passes calls on to the service.
import { createServer, request as ask } from 'node:http';
import { chromium } from 'playwright-core';
import { check, settings } from './seen.mjs';

/** How long a machine that is busy may take for a step. */
const patienceMs = 180_000;

/** A server with an empty page at /, a program at /use.js, and the service's API. */
async function serve(program) {
  const service = new URL(settings.baseUrl);
  const server = createServer((request, response) => {
    if (request.url === '/') return response.setHeader('content-type', 'text/html').end('<script type="module" src="use.js"></script>');
    if (request.url === '/use.js') return response.setHeader('content-type', 'text/javascript').end(program);
    const { method, url } = request;
    const headers = { ...request.headers, host: service.host }; // the service hands out URLs of the host that it is asked by
    const passed = ask({ host: service.hostname, port: service.port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => request.socket.destroy());
    request.pipe(passed);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Runs a program that has globalThis.run. */
export async function inChromium(program) {
  const server = await serve(program);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
    timeout: patienceMs,
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(patienceMs);
    page.on('pageerror', (error) => console.error(error));
    const baseUrl = `http://127.0.0.1:${server.address().port}`;
    await page.goto(baseUrl);
    const seen = await page.evaluate((given) => globalThis.run(given), { ...settings, baseUrl, withSession: true });
    check(seen, { withSession: true });
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}
