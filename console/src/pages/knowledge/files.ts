// The files that were chosen or dropped, also those in folders.

import type { DropItem } from 'react-aria-components/useDragAndDrop';

import { isAccepted } from './types';
import type { FileToSend } from './uploads';

/** The files to send, and how many of the folders' were left out. */
export interface Chosen {
  files: FileToSend[];
  skipped: number;
}

const skippedFolders = ['node_modules', '__pycache__'];

/** Whether a file of a folder is sent: hidden files and types that are not accepted are left out. */
const isWanted = (path: string) => {
  const parts = path.split('/');
  return (
    isAccepted(path) &&
    !parts.some((part) => part.startsWith('.') || part.startsWith('~$') || skippedFolders.includes(part))
  );
};

/** The files of an input. `isFolder`: a folder was chosen. */
export function chosenFiles(list: FileList | null, isFolder: boolean): Chosen {
  const all = [...(list ?? [])].map((file): FileToSend => ({ file, name: file.webkitRelativePath || file.name }));
  const files = isFolder ? all.filter(({ name }) => isWanted(name)) : all;
  return { files, skipped: all.length - files.length };
}

/** The files that were dropped. */
export async function droppedFiles(items: Iterable<DropItem>): Promise<Chosen> {
  const chosen: Chosen = { files: [], skipped: 0 };
  const add = async (item: DropItem, folder: string) => {
    if (item.kind === 'file') {
      const name = folder + item.name;
      if (folder !== '' && !isWanted(name)) chosen.skipped++;
      else chosen.files.push({ file: await item.getFile(), name });
    } else if (item.kind === 'directory') {
      for await (const entry of item.getEntries()) await add(entry, `${folder}${item.name}/`);
    }
  };
  for (const item of items) await add(item, '');
  return chosen;
}
