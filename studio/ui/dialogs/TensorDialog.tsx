import { type ClipboardEvent, type DragEvent, useState } from 'react';
import { type AttrValue, isTensor, type Tensor } from '../../core/page';
import { cellIndex, countOf, fillElements, flatIndex, type Slice, shapeText, sliceSize, startSlice } from '../../core/tensor';
import { parseElement, parseLiteral } from '../../core/typed';
import { api } from '../api';
import { ListField } from '../canvas/ListField';
import { type Cell, GridView } from '../results/GridView';
import { SlicePickers } from '../results/SlicePickers';
import { change, useDocument } from '../state/document';
import { closeDialog, say, useScreen } from '../state/screen';
import { Dialog } from './Dialog';
import { FillTools } from './FillTools';

const none: Tensor = { dtype: 'float', shape: [1], data: [0] };

/** The elements in a new shape: as many as before where they fit, zeros for the rest. */
function reshaped(tensor: Tensor, shape: readonly number[]): Tensor {
  const old = tensor.data ?? [];
  const data = Array.from({ length: countOf(shape) }, (_, place) => old[place] ?? 0);
  return { dtype: tensor.dtype, shape, data };
}

export function TensorDialog({ node, attr }: { node: string; attr: string }) {
  const value = useDocument((state) => state.history.present.nodes.find((each) => each.id === node)?.attrs?.[attr]);
  const types = useScreen((state) => state.table.types);
  const tensor = isTensor(value) ? value : none;
  const set = (next: AttrValue, key?: string): void => change([{ do: 'set', node, attr, value: next }], key);
  const paste = (text: string): boolean => {
    const parsed = parseLiteral(text);
    if (!parsed.ok) {
      say(`Not pasted: ${parsed.reason}.`, true);
      return false;
    }
    const { shape, data } = parsed.value;
    // Flat text fills the shape that is there when it has as many elements; otherwise it brings its own.
    const same = data.length === countOf(tensor.shape);
    set({ dtype: tensor.dtype, shape: same && shape.length <= 2 ? tensor.shape : shape, data });
    return true;
  };
  const drop = async (event: DragEvent): Promise<void> => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) await takeFile(file, (next) => set(next));
  };
  const onPaste = (event: ClipboardEvent): void => {
    const text = event.clipboardData.getData('text');
    if (/[\t\n,;{[]/.test(text.trim()) && !(event.target instanceof HTMLElement && event.target.closest('.keep-paste'))) {
      event.preventDefault();
      paste(text);
    }
  };
  return (
    <Dialog title={`Values of ${node}`} wide>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: paste and drop reach the editor from any field in it */}
      <div
        className="tensor-editor"
        onPaste={onPaste}
        onDrop={(event) => void drop(event)}
        onDragOver={(event) => event.preventDefault()}
      >
        <div className="tensor-tools">
          <label className="stacked">
            <span>Type</span>
            <select className="field" value={tensor.dtype} onChange={(event) => set({ ...tensor, dtype: event.target.value })}>
              {types.map((type) => (
                <option key={type.name}>{type.name}</option>
              ))}
            </select>
          </label>
          <div className="stacked keep-paste">
            <span>Shape</span>
            <ShapeField tensor={tensor} onChange={(shape) => set(reshaped(tensor, shape), `shape:${node}`)} />
          </div>
          <FillTools onFill={(fill) => set({ ...tensor, data: fillElements(countOf(tensor.shape), tensor.dtype, fill) })} />
        </div>
        {tensor.npy ? (
          <p className="quiet">The elements are in {tensor.npy}, beside the page.</p>
        ) : (
          <Elements key={tensor.shape.join()} node={node} tensor={tensor} set={set} />
        )}
        <div className="dialog-foot">
          <span className="quiet" data-testid="element-count">
            {tensor.data?.length ?? 0} of {countOf(tensor.shape)} elements. Paste cells of a spreadsheet, C++ braces or a Python
            list, or drop a .npy file.
          </span>
          <button type="button" className="button strong" onClick={closeDialog}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}

async function takeFile(file: File, set: (tensor: Tensor) => void): Promise<void> {
  try {
    const { dtype, shape, data } = await api.npy(await file.arrayBuffer());
    set({ dtype, shape, data });
    say(`Took ${shapeText(shape)} from ${file.name}.`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), true);
  }
}

/** The shape takes effect when the field is left or by Enter: half of a typed shape would throw elements away. */
function ShapeField({ tensor, onChange }: { tensor: Tensor; onChange: (shape: readonly number[]) => void }) {
  const [draft, setDraft] = useState<readonly number[]>();
  const commit = (): void => {
    if (draft && draft.join() !== tensor.shape.join() && draft.every((size) => size >= 0)) onChange(draft);
    setDraft(undefined);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Enter and leaving the field inside
    <span onBlur={commit} onKeyDown={(event) => event.key === 'Enter' && commit()}>
      <ListField label="Shape" values={draft ?? tensor.shape} onChange={setDraft} />
    </span>
  );
}

function Elements({ node, tensor, set }: { node: string; tensor: Tensor; set: (value: AttrValue, key?: string) => void }) {
  const letters = tensor.shape.map((_, axis) => `${axis}`);
  const [slice, setSlice] = useState<Slice>(() => startSlice(tensor.shape));
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 });
  const [draft, setDraft] = useState<string>();
  const { rows, columns } = sliceSize(tensor.shape, slice);
  const place = (row: number, column: number): number => flatIndex(tensor.shape, cellIndex(slice, row, column));
  const text = (row: number, column: number): string => String(tensor.data?.[place(row, column)] ?? '');
  const type = (typed: string): void => {
    setDraft(typed);
    const element = parseElement(typed);
    if (element === undefined) return;
    const at = place(active.row, active.column);
    set({ ...tensor, data: (tensor.data ?? []).map((each, index) => (index === at ? element : each)) }, `cell:${node}:${at}`);
  };
  const wrong = draft !== undefined && parseElement(draft) === undefined;
  return (
    <>
      <SlicePickers shape={tensor.shape} letters={letters} slice={slice} onChange={setSlice} />
      <GridView
        label={`Elements of ${node}`}
        rows={rows}
        columns={columns}
        active={active}
        onActive={(cell) => {
          setDraft(undefined);
          setActive(cell);
        }}
        text={text}
        activeContent={
          <input
            key={`${active.row},${active.column}`}
            className="cell-field"
            aria-label={`Element ${cellIndex(slice, active.row, active.column).join(', ')}`}
            aria-invalid={wrong ? true : undefined}
            data-first
            // biome-ignore lint/a11y/noAutofocus: the field follows the active cell
            autoFocus
            value={
              draft !== undefined && (wrong || String(parseElement(draft)) === text(active.row, active.column))
                ? draft
                : text(active.row, active.column)
            }
            onFocus={(event) => event.target.select()}
            onChange={(event) => type(event.target.value)}
          />
        }
      />
    </>
  );
}
