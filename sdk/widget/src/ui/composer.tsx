// Where the user writes.
import type * as preact from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { VoiceState } from '../../../typescript/src/session/index.js';
import type { Store } from '../store.js';
import { MicrophoneIcon, SendIcon, StopIcon } from './icons.js';

const maxLength = 32_000; // of a message; source: docs/realtime.md, Items

interface Props {
  readonly store: Store;
  readonly voiceState: VoiceState | undefined;
  readonly fieldRef: (field: HTMLTextAreaElement | null) => void;
}

export function Composer({ store, voiceState, fieldRef }: Props) {
  const { strings, session } = store;
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => fieldRef(field.current), []);

  const say = (): void => {
    if (!text.trim()) return;
    store.say(text.trim());
    setText('');
    field.current?.focus();
  };
  const keyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    say();
  };
  const voice = session?.voice;
  const isAnswering = session?.isAnswering || voiceState?.agentSpeaks;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        say();
      }}
    >
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        maxLength={maxLength}
        value={text}
        placeholder={strings.placeholder}
        aria-label={strings.placeholder}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={keyDown}
      />
      {isAnswering && (
        <IconButton name={strings.stop} press={() => session?.cancel()}>
          <StopIcon />
        </IconButton>
      )}
      {voice?.isAvailable && voiceState?.phase === 'off' && (
        <IconButton name={strings.talk} press={() => void voice.start()}>
          <MicrophoneIcon />
        </IconButton>
      )}
      <button type="submit" class="icon primary" aria-label={strings.send} title={strings.send}>
        <SendIcon />
      </button>
    </form>
  );
}

interface ButtonProps {
  readonly name: string;
  readonly press: () => void;
  readonly children: preact.ComponentChildren;
}

export function IconButton({ name, press, children }: ButtonProps) {
  return (
    <button type="button" class="icon" aria-label={name} title={name} onClick={press}>
      {children}
    </button>
  );
}
