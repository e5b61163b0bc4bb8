import { useState } from 'react';

import { Button } from './Button';

/** A button that copies a text. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  };
  return <Button onPress={() => void copy()}>{isDone ? 'Copied' : label}</Button>;
}

/** Code, with a button that copies it. */
export function CodeBlock({ code, label }: { code: string; label?: string }) {
  return (
    <div className="code-block">
      <pre tabIndex={0} aria-label={label}>
        {code}
      </pre>
      <Copy text={code} />
    </div>
  );
}
