import { useEffect, useState, type ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Tool } from '#gen/tools_pb';

import { failureOf } from '../../api/failure';
import { Button } from '../../ui/Button';
import { TextArea, TextField } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { problemOf, type ToolDraft } from './draft';
import { HttpFields } from './HttpFields';
import { Limits } from './Limits';
import { McpFields } from './McpFields';
import { SchemaBuilder } from './SchemaBuilder';
import { Secrets } from './Secrets';
import { ToolFailure } from './ToolFailure';
import './tools.css';

/** What each part of the form gets. */
export interface PartProps {
  draft: ToolDraft;
  set(changes: Partial<ToolDraft>): void;
  /** What is wrong with which field of the request. */
  wrong: Record<string, string>;
  /** The tool that is changed; missing for a new one. */
  tool?: Tool;
}

interface Props {
  start: ToolDraft;
  tool?: Tool;
  error: unknown;
  isSaving: boolean;
  /** What the button says. */
  action: string;
  onSave(draft: ToolDraft): void;
  /** Is told what was typed, with each change. */
  onType?(draft: ToolDraft): void;
  beside?: ReactNode;
}

/** What is wrong with which field; a name that is refused or taken is wrong too. */
function wrongFields(error: unknown): Record<string, string> {
  const { fields, reason, message } = failureOf(error);
  return ['tool-name-reserved', 'tool-slug-taken'].includes(reason) ? { ...fields, slug: message } : fields;
}

/** Everything about a tool. */
export function ToolForm({ start, tool, error, isSaving, action, onSave, onType, beside }: Props) {
  const [draft, setDraft] = useState(start);
  const [isTried, setTried] = useState(false);
  const set = (changes: Partial<ToolDraft>) => setDraft((before) => ({ ...before, ...changes }));
  useEffect(() => {
    if (draft !== start) onType?.(draft);
  }, [draft]); // eslint-disable-line react-hooks/exhaustive-deps
  const wrong = error ? wrongFields(error) : {};
  const problem = problemOf(draft);
  const parts: PartProps = { draft, set, wrong, tool };
  return (
    <Form
      className="stack loose"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (problem === '' && draft.slug.trim() !== '' && draft.description.trim() !== '') onSave(draft);
      }}
    >
      <Card title="What the model sees">
        <TextField
          label="Name"
          code
          isRequired
          value={draft.slug}
          isDisabled={!!tool}
          onChange={(slug) => set({ slug })}
          placeholder="find_order"
          maxLength={64}
          wrong={wrong['slug'] ?? (isTried && draft.slug.trim() === '' ? 'It needs a name.' : undefined)}
          hint={
            tool ? 'It cannot be changed: models know it by it.' : 'Letters, digits, _ and -, beginning with a letter.'
          }
        />
        <TextArea
          label="Description"
          isRequired
          rows={3}
          value={draft.description}
          onChange={(description) => set({ description })}
          maxLength={2000}
          placeholder="Find an order by its number, e.g. A-1007. Call it before you say anything about an order."
          wrong={
            wrong['description'] ??
            (isTried && draft.description.trim() === '' ? 'The model needs to know when to call it.' : undefined)
          }
          hint="What it does and when to call it."
        />
        {draft.kind === 'http' && (
          <SchemaBuilder
            schema={draft.schema}
            onChange={(schema) => set({ schema })}
            wrong={wrong['input_schema'] ?? wrong['input_schema_json']}
          />
        )}
      </Card>
      {draft.kind === 'http' ? <HttpFields {...parts} /> : <McpFields {...parts} />}
      <Secrets {...parts} />
      <Limits {...parts} />
      {error !== null && error !== undefined && <ToolFailure error={error} />}
      {isTried && problem && (
        <p className="note bad" role="alert">
          {problem}
        </p>
      )}
      <div className="save-bar row end">
        {beside}
        <Button kind="primary" type="submit" isDisabled={isSaving}>
          {isSaving ? 'Saving…' : action}
        </Button>
      </div>
    </Form>
  );
}
