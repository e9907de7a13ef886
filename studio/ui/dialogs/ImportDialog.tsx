import { useState } from 'react';
import { api } from '../api';
import { openUnsaved } from '../files';
import { say } from '../state/screen';
import { Dialog } from './Dialog';

const parts = [
  ['json', 'Page (.json of the task folder)', '.json'],
  ['svg', 'Drawing (.svg, for the places; may be left out)', '.svg'],
  ['dat', 'Large tensors (.dat; may be left out)', '.dat'],
] as const;

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let letters = '';
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters);
}

export function ImportDialog() {
  const [files, setFiles] = useState<Readonly<Record<string, File>>>({});
  const [problem, setProblem] = useState<string>();
  const load = async (): Promise<void> => {
    try {
      const texts = await Promise.all(Object.entries(files).map(async ([name, file]) => [name, await base64(file)] as const));
      const { page } = await api.importPage(Object.fromEntries(texts));
      openUnsaved(page);
      say('Imported the enuSpace page.');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title="Import an enuSpace page">
      {parts.map(([name, title, accept]) => (
        <label key={name} className="stacked">
          <span>{title}</span>
          <input
            type="file"
            accept={accept}
            onChange={(event) => {
              const file = event.target.files?.[0];
              if (file) setFiles({ ...files, [name]: file });
            }}
          />
        </label>
      ))}
      {problem && <p className="pin-error">{problem}</p>}
      <div className="dialog-foot">
        <span />
        <button type="button" className="button strong" disabled={!files.json} onClick={() => void load()}>
          Import
        </button>
      </div>
    </Dialog>
  );
}
