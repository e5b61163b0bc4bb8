import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';

import * as api from '../../api/clients';
import { useHere } from '../../app/caller';

interface Props {
  label: string;
  placeholder?: string;
  /** src_… or empty. */
  value: string;
  onChange(sourceId: string, name: string): void;
}

/** Chooses one source of many: what is typed is looked for in their names. */
export function SourcePicker({ label, placeholder = 'Type a part of its name', value, onChange }: Props) {
  const { workspaceId } = useHere();
  const known = useQuery({
    queryKey: ['source', workspaceId, value],
    enabled: value !== '',
    queryFn: ({ signal }) => api.knowledge.getSource({ workspaceId, sourceId: value }, { signal }),
  });
  const [typed, setTyped] = useState<string>();
  const picked = useRef(value);
  useEffect(() => {
    if (value !== picked.current) setTyped(undefined);
    picked.current = value;
  }, [value]);
  const text = typed ?? (value === '' ? '' : (known.data?.name ?? ''));
  const q = useDeferredValue(typed ?? '');
  const found = useQuery({
    queryKey: ['sources', workspaceId, 'picker', q],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await api.knowledge.listSources({ workspaceId, q, pageSize: 50, orderBy: 'name' }, { signal })).sources,
  });
  const items = found.data ?? [];
  return (
    <ComboBox
      className="field"
      items={items}
      inputValue={text}
      onInputChange={setTyped}
      value={value || null}
      allowsEmptyCollection
      menuTrigger="focus"
      defaultFilter={() => true}
      onChange={(key) => {
        const id = String(key ?? '');
        const name = items.find((item) => item.id === id)?.name ?? '';
        picked.current = id;
        if (id !== '') setTyped(name); // the list opens again when the text becomes another one
        if (id !== value) onChange(id, name);
      }}
    >
      <Label>{label}</Label>
      <div className="picker">
        <Input className="input" placeholder={placeholder} />
        <Button className="button icon" aria-label={`Show sources for ${label}`}>
          ▾
        </Button>
      </div>
      <Popover className="popover">
        <ListBox<{ id: string; name: string }>
          renderEmptyState={() => (
            <p className="dim small" style={{ padding: 8 }}>
              {found.isPending ? 'Looking…' : 'No such source.'}
            </p>
          )}
        >
          {({ id, name }) => (
            <ListBoxItem id={id} textValue={name} className="choice">
              {name}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
