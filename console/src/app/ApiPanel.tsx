import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';

import { useCalls } from '../api/calls';
import { examplesOf } from '../api/examples';
import { Button } from '../ui/Button';
import { CodeBlock } from '../ui/Code';
import { Dialog } from '../ui/Dialog';
import { Tabs } from '../ui/Tabs';

/** A button that shows the calls of the page in view as commands and as programs. */
export function ApiPanel() {
  const [isOpen, setOpen] = useState(false);
  const [path] = useLocation();
  useEffect(() => setOpen(false), [path]);
  return (
    <>
      <Button onPress={() => setOpen(true)} aria-label="This page's calls of the API">
        <code>{'</>'}</code> API
      </Button>
      {isOpen && <Panel onClose={() => setOpen(false)} />}
    </>
  );
}

function Panel({ onClose }: { onClose(): void }) {
  const calls = useCalls();
  const examples = calls.map((call) => ({ call, examples: examplesOf(call) }));
  const languages = ['curl', 'TypeScript', 'Go'];
  return (
    <Dialog title="What this page asks the API" shape="side" onClose={onClose}>
      <p className="dim">
        Everything here can be done by a program. These are the calls behind this page, and those that led to it; what
        you do is added.
      </p>
      <Tabs
        label="Language"
        tabs={languages.map((language) => ({
          id: language,
          title: language,
          content: (
            <div className="stack loose">
              {examples.length === 0 && <p>No call yet.</p>}
              {examples.map(({ call, examples: all }, at) => (
                <div key={at} className="stack">
                  <h3>
                    {call.service}.{call.method}
                  </h3>
                  <CodeBlock
                    code={all.find((example) => example.language === language)?.code ?? ''}
                    label={`${call.method} in ${language}`}
                  />
                </div>
              ))}
            </div>
          ),
        }))}
      />
    </Dialog>
  );
}
