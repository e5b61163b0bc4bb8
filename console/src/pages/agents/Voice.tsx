import { create, type JsonObject, type JsonValue } from '@bufbuild/protobuf';

import { AgentRecordingSchema, AgentWaitingSchema, type AgentVoice } from '#gen/agents_pb';

import { Switch, TextArea, TextField } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { Select, type Choice } from '../../ui/Select';
import { useEditor } from './editor';
import { Amount, JsonField, Lines, OptionalNumber, YesNo } from './fields';

type Part = 'stt' | 'tts' | 'vad' | 'turnDetection';

/** One of the four objects of the voice stack: reads and changes its members. */
function usePart(part: Part) {
  const {
    settings: { voice },
    edit,
  } = useEditor();
  const value = voice[part];
  const put = (next: JsonObject | undefined) => edit({ voice: { ...voice, [part]: next } });
  return {
    value,
    put,
    text: (name: string) => (typeof value?.[name] === 'string' ? value[name] : ''),
    number: (name: string) => (typeof value?.[name] === 'number' ? value[name] : undefined),
    bool: (name: string) => (typeof value?.[name] === 'boolean' ? value[name] : undefined),
    texts: (name: string) => (Array.isArray(value?.[name]) ? value[name].map(String) : []),
    set(name: string, to: JsonValue | undefined) {
      const { [name]: _, ...rest } = value ?? {};
      const isNone = to === undefined || to === '' || (Array.isArray(to) && to.length === 0);
      const next = isNone ? rest : { ...rest, [name]: to };
      put(Object.keys(next).length > 0 ? next : undefined);
    },
  };
}

/** How the agent hears and speaks. */
export function Voice() {
  return (
    <>
      <Hearing />
      <Speaking />
      <Turns />
      <Waiting />
      <Recording />
      <Formats />
    </>
  );
}

const installations: Choice = { id: '', text: "The installation's" };

function Provider({ part, ids }: { part: ReturnType<typeof usePart>; ids: Record<string, string> }) {
  const value = part.text('provider');
  const choices = Object.entries(ids).map(([id, text]) => ({ id, text }));
  if (value && !ids[value]) choices.push({ id: value, text: value });
  return (
    <Select
      label="Provider"
      choices={[installations, ...choices]}
      value={value}
      onChange={(next) => part.set('provider', next)}
    />
  );
}

function AsJson({ part, what }: { part: ReturnType<typeof usePart>; what: string }) {
  return (
    <details className="item">
      <summary>As JSON, with further settings of the provider</summary>
      <JsonField label={what} value={part.value} onChange={part.put} />
    </details>
  );
}

function Hearing() {
  const { wrong } = useEditor();
  const part = usePart('stt');
  return (
    <Card title="Hearing">
      <div className="grid-2">
        <Provider
          part={part}
          ids={{
            openai: 'OpenAI, or a server with its API',
            'openai-realtime': 'OpenAI Realtime',
            deepgram: 'Deepgram',
          }}
        />
        <TextField
          label="Model"
          placeholder="the installation's"
          value={part.text('model')}
          onChange={(next) => part.set('model', next)}
          wrong={wrong('voice.stt.model') ?? wrong('voice.stt')}
        />
      </div>
      <TextField
        label="Language that is heard"
        placeholder="the conversation's"
        value={part.text('language')}
        onChange={(next) => part.set('language', next)}
        wrong={wrong('voice.stt.language')}
      />
      <Lines
        label="Words that are hard to know"
        rows={2}
        value={part.texts('keywords')}
        onChange={(next) => part.set('keywords', next)}
        hint="Names and terms, one a line."
        wrong={wrong('voice.stt.keywords')}
      />
      <AsJson part={part} what="Settings of hearing" />
    </Card>
  );
}

function Speaking() {
  const { wrong } = useEditor();
  const part = usePart('tts');
  const number = (name: string, label: string, max: number, hint?: string) => (
    <OptionalNumber
      label={label}
      minValue={0}
      maxValue={max}
      step={0.05}
      value={part.number(name)}
      onChange={(next) => part.set(name, next)}
      placeholder="the provider's"
      hint={hint}
      wrong={wrong(`voice.tts.${name}`)}
    />
  );
  return (
    <Card title="Speaking">
      <div className="grid-2">
        <Provider
          part={part}
          ids={{
            openai: 'OpenAI, or a server with its API',
            elevenlabs: 'ElevenLabs',
            'espeak-ng': 'espeak-ng (on the server)',
          }}
        />
        <TextField
          label="Model"
          placeholder="the installation's"
          value={part.text('model')}
          onChange={(next) => part.set('model', next)}
          wrong={wrong('voice.tts.model') ?? wrong('voice.tts')}
        />
        <TextField
          label="Voice"
          placeholder="the installation's"
          value={part.text('voice')}
          onChange={(next) => part.set('voice', next)}
          hint="The name or id that the provider gives it."
          wrong={wrong('voice.tts.voice')}
        />
        <TextField
          label="Language that is spoken"
          placeholder="the conversation's"
          value={part.text('language')}
          onChange={(next) => part.set('language', next)}
          wrong={wrong('voice.tts.language')}
        />
      </div>
      <div className="grid-3">
        {number('speed', 'Speed', 4, '1 is as usual.')}
        {number('stability', 'Stability', 1, 'ElevenLabs, 0 to 1.')}
        {number('similarity_boost', 'Similarity', 1, 'ElevenLabs, 0 to 1.')}
      </div>
      <TextArea
        label="How it speaks"
        rows={2}
        placeholder="calm and friendly"
        value={part.text('instructions')}
        onChange={(next) => part.set('instructions', next)}
        hint="For OpenAI's newer models."
        wrong={wrong('voice.tts.instructions')}
      />
      <AsJson part={part} what="Settings of speaking" />
    </Card>
  );
}

function Turns() {
  const { wrong } = useEditor();
  const vad = usePart('vad');
  const turn = usePart('turnDetection');
  return (
    <Card title="When the user has finished">
      <div className="grid-2">
        <Select
          label="It is decided by"
          value={turn.text('type')}
          onChange={(next) => turn.set('type', next)}
          choices={[
            { id: '', text: 'Default' },
            { id: 'server_vad', text: 'Words and silence' },
            { id: 'semantic_vad', text: 'Words and silence, by eagerness' },
          ]}
        />
        <YesNo
          label="The user can interrupt"
          hint="No: what is said meanwhile is answered after it."
          value={turn.bool('interrupt_response')}
          onChange={(next) => turn.set('interrupt_response', next)}
        />
        <YesNo
          label="Begin at a probable end"
          hint="Faster answers; some begun answers are thrown away."
          value={turn.bool('start_early')}
          onChange={(next) => turn.set('start_early', next)}
        />
        <YesNo
          label="Answer by itself"
          hint="No: the client asks for each answer."
          value={turn.bool('create_response')}
          onChange={(next) => turn.set('create_response', next)}
        />
      </div>
      <div className="grid-3">
        <OptionalNumber
          label="Sound is speech from"
          minValue={0}
          maxValue={1}
          step={0.05}
          placeholder="0.5"
          value={vad.number('threshold')}
          onChange={(next) => vad.set('threshold', next)}
          hint="A probability, 0 to 1."
          wrong={wrong('voice.vad.threshold')}
        />
        <OptionalNumber
          label="Silence, ms"
          minValue={0}
          placeholder="500"
          value={vad.number('silence_duration_ms')}
          onChange={(next) => vad.set('silence_duration_ms', next)}
          hint="After words without a transcript."
          wrong={wrong('voice.vad.silence_duration_ms')}
        />
        <OptionalNumber
          label="Sound before speech, ms"
          minValue={0}
          placeholder="300"
          value={vad.number('prefix_padding_ms')}
          onChange={(next) => vad.set('prefix_padding_ms', next)}
          wrong={wrong('voice.vad.prefix_padding_ms')}
        />
      </div>
      <AsJson part={vad} what="Settings of speech detection" />
      <AsJson part={turn} what="Settings of turns" />
    </Card>
  );
}

/** Changes the voice settings that are not one of the four objects. */
function useVoice() {
  const {
    settings: { voice },
    edit,
    wrong,
  } = useEditor();
  return { voice, wrong, change: (patch: Partial<AgentVoice>) => edit({ voice: { ...voice, ...patch } }) };
}

function Waiting() {
  const { voice, change, wrong } = useVoice();
  const waiting = voice.waiting ?? create(AgentWaitingSchema);
  const set = (patch: Partial<typeof waiting>) => change({ waiting: { ...waiting, ...patch } });
  return (
    <Card title="While somebody waits">
      <div className="grid-2">
        <OptionalNumber
          label="Say a filler after, ms"
          minValue={0}
          maxValue={60_000}
          placeholder="1500"
          value={waiting.fillerAfterMs}
          onChange={(fillerAfterMs) => set({ fillerAfterMs })}
          hint="0: never."
          wrong={wrong('voice.waiting.filler_after_ms')}
        />
        <Amount
          label="Ask whether the user is there after, ms"
          maxValue={600_000}
          placeholder="never"
          value={waiting.reengageAfterMs}
          onChange={(reengageAfterMs) => set({ reengageAfterMs })}
          hint="After as long again the agent says goodbye."
          wrong={wrong('voice.waiting.reengage_after_ms')}
        />
      </div>
      <Lines
        label="Fillers"
        rows={2}
        value={waiting.fillers}
        onChange={(fillers) => set({ fillers })}
        placeholder="One moment, please."
        hint="One a line, said in turn."
        wrong={wrong('voice.waiting.fillers')}
      />
      <div className="grid-2">
        <TextField
          label="Question"
          value={waiting.reengageMessage}
          onChange={(reengageMessage) => set({ reengageMessage })}
          placeholder="Are you still there?"
          wrong={wrong('voice.waiting.reengage_message')}
        />
        <TextField
          label="Goodbye"
          value={waiting.goodbyeMessage}
          onChange={(goodbyeMessage) => set({ goodbyeMessage })}
          placeholder="one in the session's language"
          wrong={wrong('voice.waiting.goodbye_message')}
        />
      </div>
      <Switch isSelected={waiting.protectFirstMessage} onChange={(protectFirstMessage) => set({ protectFirstMessage })}>
        The first message cannot be interrupted
      </Switch>
    </Card>
  );
}

function Recording() {
  const { voice, change, wrong } = useVoice();
  const recording = voice.recording ?? create(AgentRecordingSchema);
  const set = (patch: Partial<typeof recording>) => change({ recording: { ...recording, ...patch } });
  return (
    <Card title="Recording">
      <Switch isSelected={recording.enabled} onChange={(enabled) => set({ enabled })}>
        Record what is said
      </Switch>
      {recording.enabled && (
        <TextField
          label="What the user is told"
          value={recording.notice}
          onChange={(notice) => set({ notice })}
          placeholder="This call is recorded."
          hint="Said before anything else. Empty: nothing is said."
          wrong={wrong('voice.recording.notice')}
        />
      )}
      {wrong('voice.recording') && <p className="note bad">{wrong('voice.recording')}</p>}
    </Card>
  );
}

const formats: Choice[] = [
  { id: '', text: 'PCM, 24 kHz (default)' },
  { id: 'pcm16_24000', text: 'PCM, 24 kHz' },
  { id: 'pcm16_16000', text: 'PCM, 16 kHz' },
  { id: 'g711_ulaw', text: 'G.711 µ-law' },
  { id: 'g711_alaw', text: 'G.711 A-law' },
];

function Formats() {
  const { voice, change } = useVoice();
  return (
    <Card title="Sound of the socket">
      <div className="grid-2">
        <Select
          label="What clients send"
          choices={formats}
          value={voice.inputAudioFormat}
          onChange={(inputAudioFormat) => change({ inputAudioFormat })}
        />
        <Select
          label="What clients get"
          choices={formats}
          value={voice.outputAudioFormat}
          onChange={(outputAudioFormat) => change({ outputAudioFormat })}
        />
      </div>
    </Card>
  );
}
