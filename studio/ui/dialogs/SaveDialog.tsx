import { type FormEvent, useState } from 'react';
import { saveAs } from '../files';
import { useDocument } from '../state/document';
import { closeDialog, useScreen } from '../state/screen';
import { Dialog } from './Dialog';

export function SaveDialog() {
  const file = useDocument((state) => state.file);
  const folder = useScreen((state) => state.about?.folder);
  const [name, setName] = useState(file ?? 'page.json');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const full = /\.json$/.test(name) ? name : `${name}.json`;
    closeDialog();
    void saveAs(full, null);
  };
  return (
    <Dialog title="Save the page">
      <form className="form" onSubmit={submit}>
        <label className="stacked">
          <span>Name, in {folder}</span>
          <input className="field" value={name} data-first spellCheck={false} onChange={(event) => setName(event.target.value)} />
        </label>
        <div className="dialog-foot">
          <span className="quiet">A file of this name is overwritten.</span>
          <button type="submit" className="button strong" disabled={!name.trim()}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
