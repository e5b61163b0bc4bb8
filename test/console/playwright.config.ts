import { defineConfig } from '@playwright/test';

// The service is started once, by support/service.ts; the specs share it and make what they need in
// workspaces and under names of their own. CHROMIUM=/path takes another browser.
export default defineConfig({
  testDir: '.',
  testMatch: 'pages/**/*.spec.ts',
  fullyParallel: false,
  workers: 2,
  forbidOnly: true,
  // They share a service, and two at a time change it. What fails once is tried again, and reported
  // as flaky.
  retries: 1,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [['list']],
  outputDir: process.env['OUTPUT'] ?? '/var/tmp/parlance-console-results',
  globalSetup: './support/service.ts',
  use: {
    actionTimeout: 30_000,
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'],
    },
    permissions: ['clipboard-read', 'clipboard-write'],
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  },
  projects: [
    { name: 'wide', use: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' } },
    { name: 'phone', grepInvert: /@wide/, use: { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true } },
  ],
});
