import type { ClipboardEvent } from 'react';
import { attrChange, attrValue, dimensionLetters, type Op, type OpAttr } from '../../core/ops';
import type { AttrValue, PageNode } from '../../core/page';
import { isTensor } from '../../core/page';
import { parseAttrText, parseIntegers } from '../../core/typed';
import type { Refused } from '../api';
import { change } from '../state/document';
import { say, useScreen } from '../state/screen';
import { BlockError } from './Block';
import { DimensionBoxes } from './DimensionBoxes';
import { ListField } from './ListField';
import { NumberBox } from './NumberBox';
import { PaddingGrid } from './PaddingGrid';
import { TensorBox } from './TensorBox';
import { TextField } from './TextField';

interface AttrRowProps {
  readonly op: Op;
  readonly node: PageNode;
  readonly attr: OpAttr;
  readonly error?: Refused | undefined;
}

/** A typed pin of the block, or a row of the inspector. Texts such as `data_format_ = NDHWC;` are taken by paste anywhere. */
export function AttrRow({ op, node, attr, error }: AttrRowProps) {
  const paste = (event: ClipboardEvent): void => {
    const text = event.clipboardData.getData('text');
    if (!text.includes('=')) return;
    event.preventDefault();
    const parsed = parseAttrText(op, text);
    if (parsed.ok) change([{ do: 'setAll', node: node.id, attrs: parsed.value }]);
    else say(parsed.reason, true);
  };
  const bad = error && error.got !== 'nothing';
  return (
    <>
      <div className={`pin-row typed-row ${bad ? 'bad' : ''} ${attr.name === 'explicit_paddings' ? 'tall' : ''}`} onPaste={paste}>
        <span className={`pin literal ${bad ? 'bad' : ''}`} aria-hidden="true" />
        <span className="typed-label" title={attr.doc}>
          {attr.name}
        </span>
        <AttrField op={op} node={node} attr={attr} />
      </div>
      {error && <BlockError error={error} />}
    </>
  );
}

function pastedList(event: ClipboardEvent, set: (value: AttrValue) => void): void {
  const text = event.clipboardData.getData('text');
  const parsed = parseIntegers(text);
  if (text.includes('=') || !parsed.ok || parsed.value.length < 2) return;
  event.preventDefault();
  event.stopPropagation();
  set(parsed.value);
}

function AttrField({ op, node, attr }: AttrRowProps) {
  const types = useScreen((state) => state.table.types);
  const value = attrValue(op, node, attr.name);
  const label = `${attr.name} of ${node.id}`;
  const set = (next: AttrValue): void =>
    change([{ do: 'setAll', node: node.id, attrs: attrChange(op, node, attr.name, next) }], `set:${node.id}:${attr.name}`);
  const choices = attr.choices ?? (attr.kind === 'type' ? (attr.types ?? types.map((type) => type.name)) : undefined);
  if (choices) return <Choice label={label} value={String(value ?? '')} choices={choices} onChange={set} />;
  switch (attr.kind) {
    case 'tensor':
      return <TensorBox node={node.id} attr={attr.name} value={isTensor(value) ? value : undefined} />;
    case 'bool':
      return (
        <input
          type="checkbox"
          className="nodrag"
          aria-label={label}
          checked={value === true}
          onChange={(event) => set(event.target.checked)}
        />
      );
    case 'int':
    case 'float':
      return <NumberBox label={label} value={Number(value ?? 0)} whole={attr.kind === 'int'} onChange={set} />;
    case 'list(int)':
    case 'shape':
      return <ListAttr op={op} node={node} attr={attr} values={Array.isArray(value) ? value : []} label={label} set={set} />;
    default:
      return <TextField label={label} value={String(value ?? '')} onChange={set} />;
  }
}

interface ListAttrProps extends AttrRowProps {
  readonly values: readonly number[];
  readonly label: string;
  readonly set: (value: AttrValue) => void;
}

function ListAttr({ op, node, attr, values, label, set }: ListAttrProps) {
  const letters = attr.kind === 'shape' ? undefined : dimensionLetters(op, node);
  const onPaste = (event: ClipboardEvent<HTMLInputElement>): void => pastedList(event, set);
  if (letters && attr.name === 'explicit_paddings') {
    return <PaddingGrid letters={letters} values={values} label={label} onChange={set} onPaste={onPaste} />;
  }
  if (letters && values.length === letters.length) {
    return <DimensionBoxes letters={letters} values={values} label={label} onChange={set} onPaste={onPaste} />;
  }
  return <ListField label={label} values={values} onChange={set} />;
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  // A value that is not allowed is still shown, with the library's sentence beneath it.
  const all = choices.includes(value) ? choices : [value, ...choices];
  return (
    <select className="field nodrag" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {all.map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </select>
  );
}
