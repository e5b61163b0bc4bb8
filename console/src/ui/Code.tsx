import { useState } from 'react';

import { Button } from './Button';

/** A button that copies a text. */
export function Copy({ text, label = 'Copy', onCopied }: { text: string; label?: string; onCopied?(): void }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    onCopied?.();
    setTimeout(() => setDone(false), 2000);
  };
  return <Button onPress={() => void copy()}>{isDone ? 'Copied' : label}</Button>;
}

/** Code, with a button that copies it. */
export function CodeBlock({ code, label, onCopied }: { code: string; label?: string; onCopied?(): void }) {
  return (
    <div className="code-block">
      <pre tabIndex={0} aria-label={label} onCopy={onCopied}>
        {code}
      </pre>
      <Copy text={code} onCopied={onCopied} />
    </div>
  );
}
