// What files can be uploaded, and what their types are called.

import type { Source } from '#gen/knowledge_pb';

/** Extensions of the files that are accepted. */
export const extensions = [
  '.pdf',
  '.md',
  '.markdown',
  '.txt',
  '.html',
  '.htm',
  '.json',
  '.jsonl',
  '.docx',
  '.epub',
  '.png',
  '.jpg',
  '.jpeg',
  '.webp',
];

/** What is taken, in words. */
export const takenTypes = 'PDF, Markdown, text, HTML, JSON, DOCX, EPUB and pictures (PNG, JPEG, WEBP)';

export const isAccepted = (name: string) => extensions.some((extension) => name.toLowerCase().endsWith(extension));

const names: Record<string, string> = {
  'application/pdf': 'PDF',
  'text/markdown': 'Markdown',
  'text/plain': 'Text',
  'text/html': 'Web page',
  'application/json': 'JSON',
  'application/x-ndjson': 'JSON lines',
  'application/jsonl': 'JSON lines',
  'application/epub+zip': 'EPUB',
  'image/png': 'PNG',
  'image/jpeg': 'JPEG',
  'image/webp': 'WEBP',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'DOCX',
};

/** What a media type is called. */
export const typeName = (mediaType: string) => names[mediaType] ?? mediaType;

/** What a source is: Pasted text, Web page (fetched), PDF. */
export function kindName({ kind, url, mediaType }: Source): string {
  if (url) return `${mediaType ? typeName(mediaType) : 'Page'}, fetched`;
  return kind === 'inline' ? 'Pasted text' : typeName(mediaType);
}

/** Whether OCR can be asked for. */
export const hasPictures = ({ mediaType }: Source) => mediaType === 'application/pdf' || mediaType.startsWith('image/');
