// A page in the fragment of a link: it is never sent to a server. `1.` says which packing follows.
import { type Page, readPage } from './page';

const mark = 'page=1.';
/** A link of some bytes may unpack to very many: what a page of a link may have at most. */
const most = 16 * 1024 * 1024;

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error('The page of this link is too large.');
    }
    parts.push(step.value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function toText(bytes: Uint8Array): string {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

export async function pageToFragment(page: Page): Promise<string> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(page)), new CompressionStream('deflate-raw'));
  return `#${mark}${toText(packed)}`;
}

/** Nothing when the fragment holds no page; throws when it holds a broken one. */
export async function pageFromFragment(fragment: string): Promise<Page | undefined> {
  const text = fragment.replace(/^#/, '');
  if (!text.startsWith(mark)) return undefined;
  const unpacked = await through(toBytes(text.slice(mark.length)), new DecompressionStream('deflate-raw'));
  return readPage(JSON.parse(new TextDecoder().decode(unpacked)));
}
