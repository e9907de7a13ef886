import { recentFiles } from '../../core/storage';
import { bytesText } from '../../core/tensor';
import { api } from '../api';
import { openFile, openText } from '../files';
import { say, useScreen } from '../state/screen';
import { useAnswer } from './asked';
import { Dialog } from './Dialog';

function complain(error: unknown): void {
  say(error instanceof Error ? error.message : String(error), true);
}

async function openLocal(file: File | undefined): Promise<void> {
  if (file) openText(await file.text());
}

export function FilesDialog() {
  const { value, problem } = useAnswer(api.files);
  const folder = useScreen((state) => state.about?.folder);
  const recent = recentFiles(localStorage).filter((name) => value?.some((file) => file.name === name));
  const others = (value ?? []).filter((file) => !recent.includes(file.name));
  const row = (name: string, detail: string) => (
    <li key={name}>
      <button type="button" className="file-row" onClick={() => openFile(name).catch(complain)}>
        <span>{name}</span>
        <span className="quiet">{detail}</span>
      </button>
    </li>
  );
  return (
    <Dialog title="Open a page">
      {problem && <p className="pin-error">{problem}</p>}
      {recent.length > 0 && (
        <>
          <h3>Recent</h3>
          <ul className="file-list">{recent.map((name) => row(name, ''))}</ul>
        </>
      )}
      <h3>In {folder}</h3>
      <ul className="file-list">{others.map((file) => row(file.name, bytesText(file.bytes)))}</ul>
      {value?.length === 0 && <p className="quiet">No pages there yet.</p>}
      <label className="stacked">
        <span>From elsewhere on this machine</span>
        <input
          type="file"
          accept=".json,application/json"
          onChange={(event) => openLocal(event.target.files?.[0]).catch(complain)}
        />
      </label>
    </Dialog>
  );
}
