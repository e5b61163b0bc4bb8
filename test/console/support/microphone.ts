// A browser whose microphone plays a recording: sentences of espeak-ng with silence between them.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const headerBytes = 44;
const rateHz = 22_050; // espeak-ng's own

/** Writes a WAV file of texts, which are spoken, and numbers, which are seconds of silence. Returns its path. */
function record(...parts: (string | number)[]): string {
  const pcm = Buffer.concat(
    parts.map((part) =>
      typeof part === 'number'
        ? Buffer.alloc(Math.round(part * rateHz) * 2)
        : execFileSync('espeak-ng', ['-v', 'en', '-s', '150', '--stdout', part]).subarray(headerBytes),
    ),
  );
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0);
  header.writeUInt32LE(headerBytes - 8 + pcm.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // mono
  header.writeUInt32LE(rateHz, 24);
  header.writeUInt32LE(rateHz * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(pcm.length, 40);
  const path = join(mkdtempSync(join(tmpdir(), 'parlance-microphone-')), 'said.wav');
  writeFileSync(path, Buffer.concat([header, pcm]));
  return path;
}

/** For test.use({ launchOptions }): the microphone says it again and again. */
export const microphone = (...parts: (string | number)[]) => ({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${record(...parts)}`,
  ],
});
