// Opening and saving: the server's folder, a file of the person's machine, a link, a gallery page.
import { pageFromFragment, pageToFragment } from '../core/link';
import { emptyPage, type Page, readPage } from '../core/page';
import { recover, rememberFile } from '../core/storage';
import { api, Refusal } from './api';
import { zoomToFit } from './canvas/stage';
import { withPlaces } from './edits';
import { markSaved, openPage, useDocument } from './state/document';
import { forgetRuns } from './state/runs';
import { openDialog, say, select, useScreen } from './state/screen';

function opened(page: Page, file: string | null, stamp: string | null, dirty = false): void {
  forgetRuns();
  select([]);
  useScreen.setState({ shown: null, drawer: null, dialog: null, proposedLoop: null });
  openPage(withPlaces(page), file, stamp, dirty);
  // Blocks are measured in the first drawing and can be fitted after it.
  setTimeout(() => zoomToFit(), 60);
}

export function newPage(): void {
  opened(emptyPage, null, null);
}

export async function openFile(name: string): Promise<void> {
  const { page, stamp } = await api.file(name);
  opened(readPage(page), name, stamp);
  rememberFile(localStorage, name);
}

export async function openScene(id: string): Promise<void> {
  const { page, loop } = await api.scene(id);
  opened(readPage(page), null, null);
  if (loop) useScreen.setState({ proposedLoop: loop });
}

/** A page of the person's own machine is opened as unsaved: it is not in the server's folder. */
export function openText(text: string): void {
  opened(readPage(JSON.parse(text)), null, null, true);
}

export function openUnsaved(page: unknown): void {
  opened(readPage(page), null, null, true);
}

export async function saveAs(name: string, stamp: string | null): Promise<void> {
  const page = useDocument.getState().history.present;
  try {
    const answer = await api.save(name, page, stamp);
    markSaved(page, name, answer.stamp);
    rememberFile(localStorage, name);
    say(`Saved ${name}.`);
  } catch (error) {
    if (error instanceof Refusal && error.status === 409) {
      openDialog({ kind: 'save' });
      say(`${name} has changed on disk since it was opened. Save under another name, or overwrite it there.`, true);
    } else say(error instanceof Error ? error.message : String(error), true);
  }
}

export async function save(): Promise<void> {
  const { file, stamp } = useDocument.getState();
  if (file) await saveAs(file, stamp);
  else openDialog({ kind: 'save' });
}

export async function shareLink(): Promise<void> {
  const fragment = await pageToFragment(useDocument.getState().history.present);
  const link = `${location.origin}${location.pathname}${fragment}`;
  await navigator.clipboard.writeText(link);
  say(`A link with the whole page (${link.length} letters) is in the clipboard.`);
}

/** True when the address held a page, which is then open and no longer in the address. */
export async function openLink(): Promise<boolean> {
  try {
    const linked = await pageFromFragment(location.hash);
    if (!linked) return false;
    history.replaceState(null, '', location.pathname);
    opened(linked, null, null, true);
    return true;
  } catch {
    say('The link holds a page that cannot be read.', true);
    return false;
  }
}

/** The link's page, else the named file, else what was being edited when the browser was last closed. */
export async function openAtStart(named: string | null): Promise<void> {
  if (await openLink()) return;
  const kept = recover(localStorage);
  if (named && !(kept?.dirty && kept.file === named)) return openFile(named).catch((error) => say(String(error.message), true));
  if (kept && (kept.page.nodes.length || kept.page.view.notes.length)) {
    opened(kept.page, kept.file, kept.stamp, kept.dirty);
    if (kept.dirty) say('Brought back what was not saved.');
  }
}

export function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
