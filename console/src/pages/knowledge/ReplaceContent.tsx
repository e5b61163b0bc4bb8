import { create } from '@bufbuild/protobuf';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';

import { KnowledgeService, ReplaceSourceContentRequestSchema, type Source } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { upload } from '../../api/upload';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { TextArea } from '../../ui/Field';
import { bytes, percent } from '../../ui/format';
import { FailureNote } from '../../ui/Page';
import { Progress } from '../../ui/Progress';
import { extensions } from './types';

/** Gives a source other content: a file, or text for one that was pasted. */
export function ReplaceContent({ source, onClose }: { source: Source; onClose(): void }) {
  const { workspaceId } = useHere();
  const client = useQueryClient();
  const [file, setFile] = useState<File>();
  const [content, setContent] = useState(source.content ?? '');
  const [sent, setSent] = useState(0);
  const stop = useRef<AbortController>(undefined);
  const sourceId = source.id;
  const replace = useMutation({
    mutationFn: () => {
      if (!file)
        return api.knowledge.updateSource({ workspaceId, sourceId, content, updateMask: { paths: ['content'] } });
      stop.current = new AbortController();
      return upload(KnowledgeService.method.replaceSourceContent, file, {
        first: [
          create(ReplaceSourceContentRequestSchema, {
            part: { case: 'metadata', value: { workspaceId, sourceId, filename: file.name } },
          }),
        ],
        dataField: 2,
        chunkSize: 1 << 20,
        onProgress: setSent,
        signal: stop.current.signal,
      });
    },
    onSuccess: (replaced) => {
      client.setQueryData(['source', workspaceId, sourceId], replaced);
      void client.invalidateQueries({ queryKey: ['sources'] });
      onClose();
    },
  });
  const close = () => {
    stop.current?.abort();
    onClose();
  };
  const isText = source.kind === 'inline' && !file;
  return (
    <Dialog title={`Replace the content of ${source.name}`} shape="wide" onClose={close}>
      <p className="dim">
        Its name, tags and agents stay. The old passages answer until the new ones are ready, and the old content can be
        restored.
      </p>
      {isText && <TextArea label="Text" rows={12} value={content} onChange={setContent} />}
      <div className="row">
        <FileTrigger acceptedFileTypes={extensions} onSelect={(list) => setFile(list?.[0])}>
          <Button>{file ? 'Another file' : 'Choose a file'}</Button>
        </FileTrigger>
        {file && (
          <span>
            {file.name} <span className="dim">{bytes(file.size)}</span>
          </span>
        )}
      </div>
      {replace.isPending && file && (
        <Progress
          label={`Sending: ${bytes(sent)} of ${bytes(file.size)}`}
          value={file.size > 0 ? (100 * sent) / file.size : 0}
          text={percent(sent, file.size)}
        />
      )}
      {replace.error && <FailureNote error={replace.error} />}
      <div className="row end">
        <Button onPress={close}>{replace.isPending ? 'Stop' : 'Cancel'}</Button>
        <Button
          kind="primary"
          isDisabled={replace.isPending || (!file && (!isText || content.trim() === ''))}
          onPress={() => replace.mutate()}
        >
          Replace
        </Button>
      </div>
    </Dialog>
  );
}
