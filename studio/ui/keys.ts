import { act, actions } from './actions';
import { copyText, pasteText, removeSelected } from './edits';
import { closeDialog, useScreen } from './state/screen';

const isMac = /Mac/.test(navigator.platform);

function pressed(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  // The shifted letter of a digit differs from keyboard to keyboard; its place does not.
  const digit = /^Digit(\d)$/.exec(event.code)?.[1];
  const plain = event.shiftKey && digit ? digit : key;
  const shift = event.shiftKey && plain !== '?';
  return `${mod ? 'mod+' : ''}${shift ? 'shift+' : ''}${event.altKey ? 'alt+' : ''}${plain}`;
}

export function keyText(keys: string): string {
  return keys
    .split('+')
    .map((part) =>
      part === 'mod' ? (isMac ? 'Cmd' : 'Ctrl') : part.length === 1 ? part.toUpperCase() : part[0]?.toUpperCase() + part.slice(1),
    )
    .join(' ');
}

function inText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const typing = target instanceof HTMLInputElement && !['checkbox', 'range', 'radio'].includes(target.type);
  return typing || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const keys = pressed(event);
  const action = actions.find((each) => each.keys?.includes(keys));
  if (!action) return;
  const { dialog } = useScreen.getState();
  const isUndo = action.id === 'undo' || action.id === 'redo';
  // A dialog keeps the keyboard to itself, except for undo in those that edit the page.
  if (dialog && !(isUndo && dialog.kind === 'tensor')) {
    if (action.id === 'search' && dialog.kind === 'search') closeDialog();
    if (!isUndo) event.preventDefault();
    return;
  }
  if (inText(event.target) && !action.inText) return;
  // The browser's own copy and cut events follow.
  if (action.id === 'copy' || action.id === 'cut') return;
  event.preventDefault();
  act(action.id);
}

/** Whether the clipboard's events are about blocks: not about letters in a field or marked on the page. */
function isAboutBlocks(event: ClipboardEvent): boolean {
  return !inText(event.target) && !useScreen.getState().dialog;
}

/** Fills the clipboard before the event ends: a paste that follows at once finds the blocks in it. */
function onCopy(event: ClipboardEvent): void {
  if (!isAboutBlocks(event) || window.getSelection()?.toString()) return;
  const text = copyText();
  if (!text || !event.clipboardData) return;
  event.clipboardData.setData('text/plain', text);
  event.preventDefault();
  if (event.type === 'cut') removeSelected();
}

function onPaste(event: ClipboardEvent): void {
  if (!isAboutBlocks(event)) return;
  const text = event.clipboardData?.getData('text');
  if (text && pasteText(text)) event.preventDefault();
}

export function listenToKeys(): () => void {
  window.addEventListener('keydown', onKeyDown);
  window.addEventListener('copy', onCopy);
  window.addEventListener('cut', onCopy);
  window.addEventListener('paste', onPaste);
  return () => {
    window.removeEventListener('keydown', onKeyDown);
    window.removeEventListener('copy', onCopy);
    window.removeEventListener('cut', onCopy);
    window.removeEventListener('paste', onPaste);
  };
}
