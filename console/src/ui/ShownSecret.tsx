import { useState, type ReactNode } from 'react';

import { Button } from './Button';
import { CodeBlock } from './Code';
import { Dialog } from './Dialog';

interface Props {
  title: string;
  secret: string;
  /** What the secret is, for screen readers. */
  label: string;
  /** What it is for. */
  children: ReactNode;
  /** What else is to be known. */
  after?: ReactNode;
  onClose(): void;
}

/** Shows a secret, the only time: until it was copied it does not close without a question. */
export function ShownSecret({ title, secret, label, children, after, onClose }: Props) {
  const [isCopied, setCopied] = useState(false);
  const ask = isCopied
    ? undefined
    : { title: 'Close without copying it?', text: 'It cannot be shown again.', action: 'Close' };
  return (
    <Dialog title={title} onClose={onClose} ask={ask}>
      {children}
      <CodeBlock code={secret} label={label} onCopied={() => setCopied(true)} />
      {after}
      <div className="row end">
        <Button kind="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
