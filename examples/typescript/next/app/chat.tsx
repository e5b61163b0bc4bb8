'use client';

import { connect, emptyView, reduceView, type Entry, type Session } from '@parlance/sdk/session';
import { type FormEvent, useEffect, useReducer, useRef, useState } from 'react';
import { createSession } from './actions';

/** A conversation with the agent. */
export function Chat() {
  const session = useRef<Session>(undefined);
  const [view, show] = useReducer(reduceView, emptyView);
  const [state, setState] = useState('');
  const [text, setText] = useState('');

  useEffect(() => {
    const current = connect({ fetchSession: createSession });
    session.current = current;
    current.onAny(show);
    current.on('state', () => setState(current.state.text));
    return () => current.close();
  }, []);

  const send = (event: FormEvent) => {
    event.preventDefault();
    session.current?.send(text);
    setText('');
  };
  return (
    <>
      <p role="status">{state}</p>
      <ol aria-live="polite">
        {view.entries.map((entry) => (
          <li key={`${entry.kind} ${entry.id}`}>{textOf(entry)}</li>
        ))}
      </ol>
      <form onSubmit={send}>
        <label>
          Your message <input name="text" required autoComplete="off" value={text} onChange={(e) => setText(e.target.value)} />
        </label>
        <button>Send</button>
      </form>
    </>
  );
}

function textOf(entry: Entry): string {
  if (entry.kind === 'answer') return entry.messages.map((message) => message.text).join('\n\n');
  return entry.kind === 'user' ? entry.text : '';
}
