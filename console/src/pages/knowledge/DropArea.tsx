import { useState, type ReactNode } from 'react';
import { DropZone } from 'react-aria-components/DropZone';
import { FileTrigger } from 'react-aria-components/FileTrigger';

import { useUsage } from './Storage';
import { Button } from '../../ui/Button';
import { TextField } from '../../ui/Field';
import { bytes } from '../../ui/format';
import { tell, tellFailure } from '../../ui/toast';
import { chosenFiles, droppedFiles, type Chosen } from './files';
import { parseTags } from './TagList';
import { KnownFiles } from './KnownFiles';
import { findKnown, type Known } from './known';
import { extensions, takenTypes } from './types';
import { addUploads, isOnItsWay, type FileToSend } from './uploads';

/** Where files and folders are dropped or chosen. */
export function DropArea({ workspaceId, children }: { workspaceId: string; children: ReactNode }) {
  const [tags, setTags] = useState('');
  const most = useUsage().data?.limits.find(({ name }) => name === 'kb_upload_bytes')?.limit ?? 0;
  const [known, setKnown] = useState<Known[]>([]);
  const send = (files: FileToSend[]) => addUploads(workspaceId, files, parseTags(tags));
  const add = async ({ files, skipped }: Chosen) => {
    const tooBig = files.filter(({ file }) => most > 0 && file.size > most);
    const onTheirWay = files.filter((one) => isOnItsWay(workspaceId, one));
    const fitting = files.filter((one) => !tooBig.includes(one) && !onTheirWay.includes(one));
    const found = await findKnown(workspaceId, fitting);
    send(fitting.filter((one) => !found.some(({ chosen }) => chosen === one)));
    setKnown(found);
    if (tooBig.length > 0)
      tellFailure(
        new Error(`Larger than your plan allows (${bytes(most)}): ${tooBig.map(({ name }) => name).join(', ')}`),
      );
    if (onTheirWay.length > 0) tell(`Being sent already: ${onTheirWay.map(({ name }) => name).join(', ')}`);
    if (skipped > 0) tell(`${skipped} hidden files, or of types that are not accepted, were left out of the folder.`);
  };
  return (
    <DropZone
      className="drop"
      aria-label="Drop files or folders here"
      onDrop={(event) => void droppedFiles(event.items).then(add).catch(tellFailure)}
    >
      <strong>Drop files or folders here</strong>
      <p className="dim small">
        {takenTypes}
        {most > 0 && `, up to ${bytes(most)} each`}
      </p>
      <div className="row" style={{ justifyContent: 'center' }}>
        <FileTrigger
          allowsMultiple
          acceptedFileTypes={extensions}
          onSelect={(list) => void add(chosenFiles(list, false)).catch(tellFailure)}
        >
          <Button kind="primary">Choose files</Button>
        </FileTrigger>
        <FileTrigger acceptDirectory onSelect={(list) => void add(chosenFiles(list, true)).catch(tellFailure)}>
          <Button>Choose a folder</Button>
        </FileTrigger>
        {children}
      </div>
      <div style={{ width: 'min(320px, 100%)', textAlign: 'start' }}>
        <TextField label="Tags for these files" placeholder="faq, lang:de" value={tags} onChange={setTags} />
      </div>
      {known.length > 0 && <KnownFiles known={known} onSend={send} onClose={() => setKnown([])} />}
    </DropZone>
  );
}
