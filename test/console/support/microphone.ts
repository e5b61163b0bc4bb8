// A browser whose microphone plays a recording.

import { microphone as playing, record } from '../../clients/recording.mjs';

/** For test.use({ launchOptions }): the microphone says texts, and is silent for seconds, again and again. */
export const microphone = (...parts: (string | number)[]) => ({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', ...playing(record(...parts), { repeats: true })],
});
