import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useLocation } from 'wouter';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Dialog } from '../../ui/Dialog';
import { TextArea, TextField } from '../../ui/Field';
import { bytes } from '../../ui/format';
import { FormFoot } from '../../ui/FormFoot';
import { parseTags } from './TagList';

const mostBytes = 1 << 20;

/** Makes a source of pasted text. */
export function AddText({ onClose }: { onClose(): void }) {
  const { workspaceId } = useHere();
  const [, go] = useLocation();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [content, setContent] = useState('');
  const [tags, setTags] = useState('');
  const make = useMutation({
    mutationFn: (_, once) =>
      api.knowledge.createInlineSource({ workspaceId, name, content, tags: parseTags(tags) }, once),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['sources'] });
      go(`/knowledge/${id}`);
    },
  });
  const wrong = make.error ? failureOf(make.error).fields : {};
  const size = new Blob([content]).size;
  const tooLong = size > mostBytes ? `${bytes(size)}: pasted text may have 1 MiB. Upload it as a file.` : undefined;
  return (
    <Dialog title="Paste text" shape="wide" onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          isRequired
          autoFocus
          placeholder="Returns"
          wrong={wrong['name']}
          hint="It is searched too, and shown in citations."
        />
        <TextArea
          label="Text"
          rows={14}
          value={content}
          onChange={setContent}
          isRequired
          wrong={tooLong ?? wrong['content']}
          hint="Read as Markdown: # headings divide it well."
        />
        <TextField label="Tags" value={tags} onChange={setTags} placeholder="faq, lang:de" wrong={wrong['tags']} />
        <FormFoot of={make} onClose={onClose} isDisabled={!!tooLong || name.trim() === '' || content.trim() === ''}>
          Add the text
        </FormFoot>
      </Form>
    </Dialog>
  );
}
