// Which of the files that are to be sent are sources already.

import * as api from '../../api/clients';
import { forEachOf } from './agents';
import type { FileToSend } from './uploads';

/** A file of which there is a source of the same name and size. */
export interface Known {
  chosen: FileToSend;
  sourceId: string;
}

const mostName = 200; // what ListSources takes
const mostFiles = 200; // of a large folder not every file is looked up

/** Finds those of the files that are there already. */
export async function findKnown(workspaceId: string, files: FileToSend[]): Promise<Known[]> {
  const asked = files.filter(({ file, name }) => file.size > 0 && name.length <= mostName).slice(0, mostFiles);
  const found = await forEachOf(asked, async (chosen): Promise<Known | undefined> => {
    const { sources } = await api.knowledge.listSources({ workspaceId, q: chosen.name, pageSize: 200 });
    const same = sources.find(({ name, sizeBytes }) => name === chosen.name && sizeBytes === chosen.file.size);
    return same && { chosen, sourceId: same.id };
  });
  return found.filter((one) => one !== undefined);
}
