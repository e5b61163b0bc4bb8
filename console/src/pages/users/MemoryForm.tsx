import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Memory } from '#gen/memory_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { TextArea, TextField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Select } from '../../ui/Select';

const kinds = [
  { id: 'note', text: 'A fact', note: 'Such as: Ordered a green lamp on Monday.' },
  {
    id: 'statement',
    text: 'Who the user is',
    note: 'Such as: My name is Ada. It replaces what was said about the same before.',
  },
];

const day = (memory: Memory | undefined) =>
  memory?.expiresAt ? timestampDate(memory.expiresAt).toISOString().slice(0, 10) : '';

/** Asks for a memory's text and saves it; without `memory` it is a new one. */
export function MemoryForm({
  userId,
  memory,
  onClose,
}: {
  userId: string;
  memory: Memory | undefined;
  onClose(): void;
}) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [kind, setKind] = useState(memory?.kind ?? 'note');
  const [text, setText] = useState(memory?.text ?? '');
  const [category, setCategory] = useState(memory?.category ?? '');
  const [attribute, setAttribute] = useState(memory?.attribute ?? '');
  const [tags, setTags] = useState(memory?.tags.join(', ') ?? '');
  const [until, setUntil] = useState(day(memory));
  const fields = {
    workspaceId,
    userId,
    text,
    category,
    attribute,
    tags: tags
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
    expiresAt: until === day(memory) ? memory?.expiresAt : until ? timestampFromDate(new Date(until)) : undefined,
  };
  const save = useMutation({
    mutationFn: (_, once) =>
      memory
        ? api.memory.updateMemory({
            ...fields,
            memoryId: memory.id,
            updateMask: { paths: ['text', 'category', 'attribute', 'tags', 'expires_at'] },
          })
        : api.memory.addMemory({ ...fields, kind }, once),
    onSuccess: () => {
      for (const name of ['memories', 'user', 'users']) void client.invalidateQueries({ queryKey: [name] });
      onClose();
    },
  });
  const wrong = save.error ? failureOf(save.error).fields : {};
  return (
    <Dialog title={memory ? 'Edit the memory' : 'New memory'} onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {!memory && <Select label="What it is" choices={kinds} value={kind} onChange={setKind} />}
        <TextArea
          label="Text"
          rows={3}
          value={text}
          onChange={setText}
          isRequired
          autoFocus
          maxLength={2000}
          wrong={wrong['text']}
        />
        <div className="grid-2">
          <TextField
            label="Category"
            value={category}
            onChange={setCategory}
            maxLength={50}
            wrong={wrong['category']}
            placeholder="preference"
          />
          <TextField
            label="Attribute"
            value={attribute}
            onChange={setAttribute}
            maxLength={50}
            wrong={wrong['attribute']}
            placeholder="name"
            hint="Of a statement: only one of it is in use."
          />
          <TextField
            label="Tags"
            value={tags}
            onChange={setTags}
            wrong={wrong['tags']}
            placeholder="order, lamp"
            hint="Words to find it by."
          />
          <TextField
            label="Forget it on"
            type="date"
            value={until}
            onChange={setUntil}
            wrong={wrong['expires_at']}
            hint="Empty: never."
          />
        </div>
        <FormFoot of={save} onClose={onClose} isDisabled={text.trim() === ''}>
          Save
        </FormFoot>
      </Form>
    </Dialog>
  );
}
