// A recording for the browser's fake microphone: sentences of espeak-ng with silence between them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const headerBytes = 44,
  rateHz = 22_050; // espeak-ng's own

/** Installs espeak-ng where it is missing, as root on Debian or Ubuntu. */
function install() {
  try {
    execFileSync('espeak-ng', ['--version'], { stdio: 'ignore' });
  } catch {
    const apt = (...words) =>
      execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', '-qq', ...words], { stdio: 'ignore' });
    apt('update');
    apt('install', '-y', '--no-install-recommends', 'espeak-ng');
  }
}

/** Writes a WAV file of texts, which are spoken, and numbers, which are seconds of silence. Returns its path. */
export function record(...parts) {
  install();
  const sound = parts.map((part) =>
    typeof part === 'number'
      ? Buffer.alloc(Math.round(part * rateHz) * 2)
      : execFileSync('espeak-ng', ['-v', 'en', '-s', '150', '--stdout', part]).subarray(headerBytes),
  );
  const pcm = Buffer.concat(sound);
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
  const path = join(mkdtempSync(join(tmpdir(), 'parlance-recording-')), 'said.wav');
  writeFileSync(path, Buffer.concat([header, pcm]));
  return path;
}

/** The browser's arguments for a microphone that plays a file once, or again and again. */
export const microphone = (path, { repeats = false } = {}) => [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  `--use-file-for-fake-audio-capture=${path}${repeats ? '' : '%noloop'}`,
];
