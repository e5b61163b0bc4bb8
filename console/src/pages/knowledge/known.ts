// Which of the files that are to be sent are sources already.

import type { Source } from '#gen/knowledge_pb';

import * as api from '../../api/clients';
import { forEachOf } from './agents';
import type { FileToSend } from './uploads';

/** A file of which there is a source of the same name and size. */
export interface Known {
  chosen: FileToSend;
  sourceId: string;
}

const pageSize = 200;
const mostPages = 10;
const fewFiles = 20; // so many are looked up by name; of more, the newest sources are read
const mostName = 200; // what ListSources takes

async function newest(workspaceId: string): Promise<Source[]> {
  const all: Source[] = [];
  let pageToken = '';
  for (let page = 0; page < mostPages; page++) {
    const answer = await api.knowledge.listSources({ workspaceId, pageSize, pageToken });
    all.push(...answer.sources);
    pageToken = answer.nextPageToken;
    if (pageToken === '') break;
  }
  return all;
}

async function named(workspaceId: string, names: string[]): Promise<Source[]> {
  const found = await forEachOf(
    names,
    async (q) => (await api.knowledge.listSources({ workspaceId, q, pageSize })).sources,
  );
  return found.flat();
}

/** Finds those of the files that are there already. When that cannot be asked, none: they are sent as new ones. */
export async function findKnown(workspaceId: string, files: FileToSend[]): Promise<Known[]> {
  const asked = files.filter(({ file, name }) => file.size > 0 && name.length <= mostName);
  const sources = await (
    asked.length > fewFiles
      ? newest(workspaceId)
      : named(
          workspaceId,
          asked.map(({ name }) => name),
        )
  ).catch(() => []);
  return asked.flatMap((chosen) => {
    const same = sources.find(({ name, sizeBytes }) => name === chosen.name && sizeBytes === chosen.file.size);
    return same ? [{ chosen, sourceId: same.id }] : [];
  });
}
