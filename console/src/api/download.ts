/** Collects the pieces of a stream of the API and hands them to the reader as a file. Throws what the stream throws. */
export async function download(
  name: string,
  type: string,
  pieces: AsyncIterable<Uint8Array>,
  onBytes?: (bytes: number) => void,
): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    parts.push(new Uint8Array(piece));
    bytes += piece.length;
    onBytes?.(bytes);
  }
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
