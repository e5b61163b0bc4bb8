#!/usr/bin/env bash
# Writes testdata/speech.s16 and testdata/probabilities.f32, what onnxruntime says of it, with the
# ONNX file of Silero VAD v5. Needs espeak-ng, flite, sox and Node; onnxruntime-node is installed in
# a temporary folder.
#
#   voice/hearing/silero/make/reference.sh package/dist/silero_vad_v5.onnx
set -euo pipefail
model=$(realpath "$1")
data=$(realpath "$(dirname "$0")/../testdata")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm install --silent --ignore-scripts onnxruntime-node@1.30.0
espeak-ng -v en-us -w first.wav "I would like to book a table, tomorrow."
flite -voice slt -t "What are your opening hours?" -o second.wav
sox -R first.wav -r 16000 -c 1 a.wav
sox -R second.wav -r 16000 -c 1 b.wav
sox -R -n -r 16000 -c 1 -b 16 silence.wav trim 0 0.7
sox -R a.wav silence.wav b.wav silence.wav -t raw -b 16 -e signed "$data/speech.s16"

cat >run.mjs <<'JS'
import { readFileSync, writeFileSync } from 'node:fs'
import ort from 'onnxruntime-node'

const [model, audio, out] = process.argv.slice(2)
const session = await ort.InferenceSession.create(model)
const bytes = readFileSync(audio)
const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
const sr = new ort.Tensor('int64', [16000n])
let state = new ort.Tensor('float32', new Float32Array(256), [2, 1, 128])
let context = new Float32Array(64)
const probabilities = []
for (let at = 0; at + 512 <= samples.length; at += 512) {
  const input = new Float32Array(576)
  input.set(context)
  for (let i = 0; i < 512; i++) input[64 + i] = samples[at + i] / 32768
  context = input.slice(512)
  const answer = await session.run({ input: new ort.Tensor('float32', input, [1, 576]), state, sr })
  state = answer.stateN
  probabilities.push(answer.output.data[0])
}
writeFileSync(out, Buffer.from(new Float32Array(probabilities).buffer))
JS
node run.mjs "$model" "$data/speech.s16" "$data/probabilities.f32"
