import { ReactFlowProvider } from '@xyflow/react';
import { useEffect, useState } from 'react';
import { readOpTable } from '../core/ops';
import { api } from './api';
import { Canvas } from './canvas/Canvas';
import { Dialogs } from './dialogs/Dialogs';
import { openAtStart, openLink } from './files';
import { listenToKeys } from './keys';
import { Drawer } from './panes/Drawer';
import { Inspector } from './panes/Inspector';
import { Palette } from './panes/Palette';
import { StatusBar } from './panes/StatusBar';
import { Toolbar } from './panes/Toolbar';
import { followEdits } from './state/follow';
import { setAbout, useScreen } from './state/screen';

async function start(): Promise<void> {
  const [about, ops] = await Promise.all([api.about(), api.ops()]);
  useScreen.setState({ table: readOpTable(ops) });
  setAbout(about);
  await openAtStart(about.file);
}

export function App() {
  const [problem, setProblem] = useState<string>();
  const ready = useScreen((state) => state.about !== null);
  useEffect(() => {
    const stopFollowing = followEdits();
    const stopKeys = listenToKeys();
    const onLink = (): void => void openLink();
    window.addEventListener('hashchange', onLink);
    start().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
    return () => {
      stopFollowing();
      stopKeys();
      window.removeEventListener('hashchange', onLink);
    };
  }, []);
  if (!ready) {
    return (
      <main className="starting">
        <h1>convgrad studio</h1>
        <p role={problem ? 'alert' : 'status'}>{problem ?? 'Asking the library for its blocks'}</p>
      </main>
    );
  }
  return (
    <ReactFlowProvider>
      <Toolbar />
      <main className="work">
        <h1 className="hidden-text">convgrad studio</h1>
        <Palette />
        <div className="centre">
          <Canvas />
          <Drawer />
        </div>
        <Inspector />
      </main>
      <StatusBar />
      <Dialogs />
    </ReactFlowProvider>
  );
}
