// What follows an edit by itself: shapes, a run where that is wished, autosave, the title.
import type { Page } from '../../core/page';
import { keep } from '../../core/storage';
import { isDirty, useDocument } from './document';
import { startRun } from './runs';
import { applyTheme, say, useScreen } from './screen';
import { inferShapes, useShapes } from './shapes';

const runDelay = 250;
const keepDelay = 400;

function sameMeaning(a: Page, b: Page): boolean {
  return a === b || (a.nodes === b.nodes && a.edges === b.edges && a.fetch === b.fetch);
}

function title(): string {
  const state = useDocument.getState();
  return `${isDirty(state) ? '\u25cf ' : ''}${state.file ?? 'Untitled page'} - convgrad studio`;
}

function keepPage(): void {
  const state = useDocument.getState();
  const kept = keep(localStorage, { page: state.history.present, file: state.file, stamp: state.stamp, dirty: isDirty(state) });
  if (!kept) say('This page is too large for the browser to keep: save it to a file.', true);
}

/** Runs only what can run at all: a page that is refused as a whole waits for its repair. */
function autoRun(): void {
  const { history } = useDocument.getState();
  if (!useScreen.getState().autoRun || history.present.nodes.length === 0) return;
  if (useShapes.getState().general.length === 0) void startRun(history.present);
}

export function followEdits(): () => void {
  let keeping = 0;
  let running = 0;
  const later = (): void => {
    clearTimeout(keeping);
    keeping = window.setTimeout(keepPage, keepDelay);
  };
  const run = (): void => {
    clearTimeout(running);
    running = window.setTimeout(autoRun, runDelay);
  };
  const stopDocument = useDocument.subscribe((now, before) => {
    document.title = title();
    later();
    if (sameMeaning(now.history.present, before.history.present)) return;
    void inferShapes(now.history.present);
    run();
  });
  const stopScreen = useScreen.subscribe((now, before) => {
    if (now.theme !== before.theme) applyTheme(now.theme);
    if ((now.autoRun && !before.autoRun) || now.engine !== before.engine) autoRun();
  });
  const system = window.matchMedia('(prefers-color-scheme: light)');
  const onSystem = (): void => applyTheme(useScreen.getState().theme);
  system.addEventListener('change', onSystem);
  // Panes lie over the canvas where it is narrow, so they wait to be asked for there.
  const wide = window.matchMedia('(min-width: 1100px)');
  const onWidth = (): void => useScreen.setState({ palette: wide.matches, inspector: wide.matches });
  wide.addEventListener('change', onWidth);
  const onLeave = (): void => keepPage();
  window.addEventListener('pagehide', onLeave);
  applyTheme(useScreen.getState().theme);
  document.title = title();
  return () => {
    stopDocument();
    stopScreen();
    system.removeEventListener('change', onSystem);
    wide.removeEventListener('change', onWidth);
    window.removeEventListener('pagehide', onLeave);
  };
}
