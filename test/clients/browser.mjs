// A headless Chromium, controlled over the DevTools protocol.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';

const patienceMS = 30_000;

/** Starts Chromium with one page, and with more arguments. close() ends both. */
export async function open(...more) {
  const program = process.env.CHROMIUM ?? 'chromium';
  const profile = mkdtempSync(join(tmpdir(), 'parlance-browser-'));
  const child = spawn(
    program,
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      ...more,
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const closed = new Promise((resolve) => child.once('close', resolve));
  const close = async () => {
    child.kill('SIGTERM');
    await exited;
    killGroup(child.pid); // its helpers would write to the profile while it is removed
    await closed; // the helpers have closed the pipe
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const port = await listening(child);
    const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    const page = new Page(targets.find((t) => t.type === 'page').webSocketDebuggerUrl, close);
    await page.start();
    return page;
  } catch (error) {
    await close();
    throw error;
  }
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // the processes have ended
  }
}

function listening(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`the browser does not start: ${said}`)), patienceMS);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the browser ended with ${code}: ${said}`)));
    child.stderr.on('data', (data) => {
      said += data;
      const found = said.match(/DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//);
      if (!found) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
  });
}

/** One page. */
class Page {
  /** The page's exceptions, errors on the browser's console, and violations of its policy. */
  complaints = [];
  /** The URLs of all requests. */
  requests = [];
  #socket;
  #waiting = new Map();
  #id = 0;
  #close;

  constructor(url, close) {
    this.#socket = new WebSocket(url, { perMessageDeflate: false });
    this.#close = close;
  }

  async start() {
    await new Promise((resolve, reject) => this.#socket.once('open', resolve).once('error', reject));
    this.#socket.on('message', (data) => this.#take(JSON.parse(data)));
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
  }

  #take({ id, result, error, method, params }) {
    if (id) {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      return error ? reject(new Error(error.message)) : resolve(result);
    }
    if (method === 'Runtime.exceptionThrown')
      this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Log.entryAdded' && params.entry.level === 'error')
      this.complaints.push(`${params.entry.text} ${params.entry.url ?? ''}`);
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Network.webSocketCreated') this.requests.push(params.url);
  }

  send(method, params = {}) {
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  async go(url) {
    await this.send('Page.navigate', { url });
    await this.until(() => document.readyState === 'complete');
  }

  /** Runs a function in the page, with arguments that JSON can hold. */
  async run(fn, ...args) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression: `(${fn})(...${JSON.stringify(args)})`,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until a function in the page returns a truthy value, and returns it. */
  async until(fn, ...args) {
    const late = Date.now() + patienceMS;
    for (;;) {
      const value = await this.run(fn, ...args).catch((error) => {
        if (Date.now() > late) throw error; // a page that is being replaced runs no functions
      });
      if (value) return value;
      if (Date.now() > late)
        throw new Error(
          `not within ${patienceMS} ms: ${fn} ${JSON.stringify(args)}\n` +
            `${await this.run(() => document.body.innerText)}\n${this.complaints.join('\n')}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Waits for a visible text. */
  sees(text) {
    return this.until((wanted) => document.body.innerText.includes(wanted), text);
  }

  /** Presses the last enabled button or link whose text begins so, once there is one. */
  press(text) {
    return this.until((wanted) => {
      const found = [...document.querySelectorAll('button, a, summary')].findLast(
        (e) => e.textContent.trim().startsWith(wanted) && e.checkVisibility() && !e.disabled,
      );
      found?.click();
      return Boolean(found);
    }, text);
  }

  /** Types into the control with the label. */
  async type(label, text) {
    await this.until((wanted) => {
      const labelled = [...document.querySelectorAll('label')].find((l) => l.textContent === wanted)?.control;
      const found = labelled ?? document.querySelector(`[aria-label=${JSON.stringify(wanted)}]`);
      if (!found || found.disabled || !found.checkVisibility()) return false;
      found.focus();
      found.select?.();
      return true;
    }, label);
    await this.send('Input.insertText', { text });
  }

  async key(key, code = key) {
    const text = key === 'Enter' ? '\r' : undefined;
    await this.send('Input.dispatchKeyEvent', {
      type: 'keyDown',
      key,
      code,
      text,
      windowsVirtualKeyCode: key === 'Enter' ? 13 : key === 'Tab' ? 9 : 0,
    });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, code });
  }

  async resize(width, height, scale = 1) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: false });
  }

  async scheme(value) {
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
  }

  async screenshot() {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }

  async close() {
    this.#socket.close();
    await this.#close();
  }
}
