// Rows of the real op table, as `convgrad ops --json` prints them, for tests of what reads it.
import type { Op, OpTable } from './ops';

const floats = ['half', 'bfloat16', 'float', 'double'];
const all = [...floats, 'int32', 'int64'];
const decided = (name: string, types: string[]) => ({ name, kind: 'type', doc: '', types, from_inputs: true });

function row(part: Partial<Op> & Pick<Op, 'name'>): Op {
  return { group: 'Core', doc: '', inputs: [], outputs: [], attrs: [], gradient: true, stateful: false, ...part };
}

const convAttrs = [
  { name: 'strides', kind: 'list(int)', doc: '' },
  { name: 'padding', kind: 'string', doc: '', choices: ['SAME', 'VALID', 'EXPLICIT'] },
  { name: 'explicit_paddings', kind: 'list(int)', doc: '', default: [] },
  { name: 'data_format', kind: 'string', doc: '', default: 'NDHWC', choices: ['NDHWC', 'NCDHW'] },
  { name: 'dilations', kind: 'list(int)', doc: '', default: [1, 1, 1, 1, 1] },
];

export const table: OpTable = {
  types: [{ name: 'float', bytes: 4 }],
  ops: [
    row({
      name: 'Const',
      outputs: [{ name: 'output', type: 'dtype', doc: '' }],
      attrs: [
        { name: 'value', kind: 'tensor', doc: '' },
        { name: 'dtype', kind: 'type', doc: '', types: all },
      ],
    }),
    row({
      name: 'Shape',
      inputs: [{ name: 'input', type: 'T', doc: '' }],
      outputs: [{ name: 'output', type: 'out_type', doc: '' }],
      attrs: [decided('T', all), { name: 'out_type', kind: 'type', doc: '', default: 'int32', types: ['int32', 'int64'] }],
    }),
    row({
      name: 'AddN',
      inputs: [{ name: 'inputs', type: 'T', doc: '', list: true }],
      outputs: [{ name: 'sum', type: 'T', doc: '' }],
      attrs: [decided('T', all)],
    }),
    row({
      name: 'Conv3DBackpropFilterV2',
      inputs: [
        { name: 'input', type: 'T', doc: '' },
        { name: 'filter_sizes', type: 'Tshape', doc: '' },
        { name: 'out_backprop', type: 'T', doc: '' },
      ],
      outputs: [{ name: 'output', type: 'T', doc: '' }],
      attrs: [...convAttrs, decided('T', floats), decided('Tshape', ['int32', 'int64'])],
    }),
    row({
      name: 'Assign',
      inputs: [
        { name: 'ref', type: 'T', doc: '', variable: true },
        { name: 'value', type: 'T', doc: '' },
      ],
      outputs: [{ name: 'output_ref', type: 'T', doc: '' }],
      attrs: [decided('T', all)],
    }),
  ],
};

export function op(name: string): Op {
  const found = table.ops.find((each) => each.name === name);
  if (!found) throw new Error(`The test table has no ${name}.`);
  return found;
}
