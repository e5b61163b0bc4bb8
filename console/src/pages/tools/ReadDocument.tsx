import { useState } from 'react';
import { DropZone } from 'react-aria-components/DropZone';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { Form } from 'react-aria-components/Form';

import { Button } from '../../ui/Button';
import { TextArea, TextField } from '../../ui/Field';
import { bytes } from '../../ui/format';
import { Card } from '../../ui/Page';
import { Tabs } from '../../ui/Tabs';
import { tellFailure } from '../../ui/toast';

/** What ReadOpenApi is asked. */
export interface Asked {
  document: string;
  url: string;
  server: string;
  prefix: string;
}

const most = 8_000_000; // ReadOpenApiRequest.document

/** Takes an OpenAPI document: pasted, dropped, or by its address. */
export function ReadDocument({ isReading, onRead }: { isReading: boolean; onRead(asked: Asked): void }) {
  const [from, setFrom] = useState('document');
  const [asked, setAsked] = useState<Asked>({ document: '', url: '', server: '', prefix: '' });
  const set = (changes: Partial<Asked>) => setAsked((before) => ({ ...before, ...changes }));
  const take = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > most)
      tellFailure(new Error(`${file.name} has ${bytes(file.size)}; a document may have ${bytes(most)}.`));
    else set({ document: await file.text() });
  };
  const isByUrl = from === 'url';
  return (
    <Card title="The document">
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onRead({ ...asked, document: isByUrl ? '' : asked.document, url: isByUrl ? asked.url.trim() : '' });
        }}
      >
        <Tabs
          label="Where the document is"
          selected={from}
          onSelect={setFrom}
          tabs={[
            {
              id: 'document',
              title: 'Paste or drop it',
              content: (
                <DropZone
                  className="stack"
                  aria-label="Drop the document here"
                  onDrop={({ items }) => {
                    const item = items.find(({ kind }) => kind === 'file');
                    if (item?.kind === 'file') void item.getFile().then(take).catch(tellFailure);
                  }}
                >
                  <TextArea
                    label="OpenAPI 3.0 to 3.2, JSON or YAML"
                    code
                    rows={8}
                    value={asked.document}
                    onChange={(document) => set({ document })}
                  />
                  <div className="row">
                    <FileTrigger
                      acceptedFileTypes={['.json', '.yaml', '.yml']}
                      onSelect={(list) => void take(list?.[0])}
                    >
                      <Button>Choose a file</Button>
                    </FileTrigger>
                    <span className="dim small">or drop it here</span>
                  </div>
                </DropZone>
              ),
            },
            {
              id: 'url',
              title: 'By its address',
              content: (
                <TextField
                  label="Address of the document"
                  code
                  type="url"
                  value={asked.url}
                  onChange={(url) => set({ url })}
                  placeholder="https://shop.example.com/openapi.json"
                />
              ),
            },
          ]}
        />
        <div className="grid-2">
          <TextField
            label="Base address of the API"
            code
            type="url"
            value={asked.server}
            onChange={(server) => set({ server })}
            placeholder="that of the document"
          />
          <TextField
            label="Before each name"
            code
            value={asked.prefix}
            onChange={(prefix) => set({ prefix })}
            placeholder="nothing"
            hint="shop makes list_orders shop_list_orders."
          />
        </div>
        <div className="row end">
          <Button
            kind="primary"
            type="submit"
            isDisabled={isReading || (isByUrl ? asked.url.trim() === '' : asked.document.trim() === '')}
          >
            {isReading ? 'Reading…' : 'Read it'}
          </Button>
        </div>
      </Form>
    </Card>
  );
}
