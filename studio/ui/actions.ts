// Every action by name: the toolbar, the command menu and the keys all go through this list.
import { sessionId } from '../core/commands';
import { zoomBy, zoomToFit } from './canvas/stage';
import { drawingOf, pngOf } from './drawing';
import {
  addNote,
  alignSelected,
  copyText,
  duplicate,
  groupSelected,
  layout,
  pasteText,
  placeBlock,
  removeSelected,
  selectAll,
} from './edits';
import { download, newPage, save, shareLink } from './files';
import { currentPage, redoChange, undoChange, useDocument } from './state/document';
import { startRun, stopRun } from './state/runs';
import { openDialog, say, setTheme, useScreen } from './state/screen';

export interface Action {
  readonly id: string;
  readonly title: string;
  /** As `mod+k`: mod is Ctrl, or Cmd on a Mac. */
  readonly keys?: readonly string[];
  /** Also while a text field has the keyboard. */
  readonly inText?: boolean;
  readonly run: () => unknown;
}

function runPage(): void {
  void startRun(currentPage());
}

async function copy(): Promise<void> {
  const text = copyText();
  if (text) await navigator.clipboard.writeText(text);
}

async function cut(): Promise<void> {
  await copy();
  removeSelected();
}

function fileBase(): string {
  return (useDocument.getState().file ?? 'page').replace(/\.json$/, '');
}

export const actions: readonly Action[] = [
  {
    id: 'search',
    title: 'Place a block or run a command',
    keys: ['mod+k'],
    inText: true,
    run: () => openDialog({ kind: 'search' }),
  },
  { id: 'run', title: 'Run', keys: ['mod+Enter'], inText: true, run: runPage },
  { id: 'stop', title: 'Stop the run', keys: ['mod+.'], inText: true, run: stopRun },
  {
    id: 'auto',
    title: 'Run by itself after every edit',
    run: () => useScreen.setState(({ autoRun }) => ({ autoRun: !autoRun })),
  },
  { id: 'loop', title: 'Run as a loop', keys: ['mod+shift+Enter'], inText: true, run: () => openDialog({ kind: 'loop' }) },
  { id: 'engine', title: 'Choose the engine of runs', run: () => openDialog({ kind: 'engine' }) },
  { id: 'undo', title: 'Undo', keys: ['mod+z'], inText: true, run: undoChange },
  { id: 'redo', title: 'Redo', keys: ['mod+shift+z', 'mod+y'], inText: true, run: redoChange },
  { id: 'gallery', title: 'Gallery', keys: ['mod+g'], run: () => openDialog({ kind: 'gallery' }) },
  { id: 'new', title: 'New page', run: newPage },
  { id: 'open', title: 'Open a page', keys: ['mod+o'], inText: true, run: () => openDialog({ kind: 'files' }) },
  { id: 'save', title: 'Save', keys: ['mod+s'], inText: true, run: save },
  {
    id: 'save-as',
    title: 'Save under another name',
    keys: ['mod+shift+s'],
    inText: true,
    run: () => openDialog({ kind: 'save' }),
  },
  { id: 'import', title: 'Import an enuSpace page', run: () => openDialog({ kind: 'import' }) },
  { id: 'export', title: 'Export as C++, Python and others', keys: ['mod+e'], run: () => openDialog({ kind: 'export' }) },
  { id: 'share', title: 'Copy a link with the page in it', run: shareLink },
  {
    id: 'svg',
    title: 'Save the drawing as SVG',
    run: () => download(`${fileBase()}.svg`, new Blob([drawingOf()], { type: 'image/svg+xml' })),
  },
  { id: 'png', title: 'Save the drawing as PNG', run: async () => download(`${fileBase()}.png`, await pngOf()) },
  { id: 'differentiate', title: 'Differentiate', keys: ['mod+d'], run: () => openDialog({ kind: 'differentiate' }) },
  { id: 'copy', title: 'Copy', keys: ['mod+c'], run: copy },
  { id: 'cut', title: 'Cut', keys: ['mod+x'], run: cut },
  {
    id: 'paste',
    title: 'Paste blocks',
    run: async () => {
      if (!pasteText(await navigator.clipboard.readText())) say('The clipboard holds no blocks.', true);
    },
  },
  { id: 'duplicate', title: 'Duplicate', keys: ['mod+shift+d'], run: duplicate },
  { id: 'remove', title: 'Remove what is chosen', run: removeSelected },
  { id: 'select-all', title: 'Choose all blocks', keys: ['mod+a'], run: selectAll },
  { id: 'layout', title: 'Arrange the blocks', keys: ['shift+alt+t'], run: layout },
  { id: 'align-left', title: 'Align left edges', run: () => alignSelected('left') },
  { id: 'align-right', title: 'Align right edges', run: () => alignSelected('right') },
  { id: 'align-top', title: 'Align top edges', run: () => alignSelected('top') },
  { id: 'align-bottom', title: 'Align bottom edges', run: () => alignSelected('bottom') },
  { id: 'group', title: 'Group', keys: ['mod+shift+g'], run: groupSelected },
  { id: 'note', title: 'Comment', keys: ['mod+shift+m'], run: addNote },
  { id: 'session', title: 'Place the ClientSession block', run: () => placeBlock(sessionId) },
  { id: 'fit', title: 'Zoom to fit', keys: ['shift+1'], run: () => zoomToFit() },
  { id: 'zoom-in', title: 'Zoom in', keys: ['='], run: () => zoomBy(1.25) },
  { id: 'zoom-out', title: 'Zoom out', keys: ['-'], run: () => zoomBy(0.8) },
  { id: 'palette', title: 'Show or hide the blocks', run: () => useScreen.setState(({ palette }) => ({ palette: !palette })) },
  {
    id: 'inspector',
    title: 'Show or hide the inspector',
    run: () => useScreen.setState(({ inspector }) => ({ inspector: !inspector })),
  },
  { id: 'problems', title: 'Show the problems', run: () => useScreen.setState({ drawer: 'problems' }) },
  { id: 'theme-dark', title: 'Dark theme', run: () => setTheme('dark') },
  { id: 'theme-light', title: 'Light theme', run: () => setTheme('light') },
  { id: 'theme-system', title: 'Theme of the system', run: () => setTheme('system') },
  { id: 'keys', title: 'Keys and gestures', keys: ['?'], run: () => openDialog({ kind: 'keys' }) },
];

export function act(id: string): void {
  void Promise.resolve(actions.find((action) => action.id === id)?.run()).catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error), true);
  });
}
