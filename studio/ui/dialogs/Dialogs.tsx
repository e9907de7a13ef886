import { useScreen } from '../state/screen';
import { ConnectDialog } from './ConnectDialog';
import { DifferentiateDialog } from './DifferentiateDialog';
import { EngineDialog } from './EngineDialog';
import { ExportDialog } from './ExportDialog';
import { FilesDialog } from './FilesDialog';
import { GalleryDialog } from './GalleryDialog';
import { HelpDialog } from './HelpDialog';
import { ImportDialog } from './ImportDialog';
import { KeysDialog } from './KeysDialog';
import { LoopDialog } from './LoopDialog';
import { SaveDialog } from './SaveDialog';
import { SearchDialog } from './SearchDialog';
import { TensorDialog } from './TensorDialog';

export function Dialogs() {
  const dialog = useScreen((state) => state.dialog);
  switch (dialog?.kind) {
    case undefined:
      return null;
    case 'search':
      return <SearchDialog at={dialog.at} wire={dialog.wire} />;
    case 'connect':
      return <ConnectDialog pin={dialog.pin} side={dialog.side} />;
    case 'tensor':
      return <TensorDialog node={dialog.node} attr={dialog.attr} />;
    case 'help':
      return <HelpDialog op={dialog.op} />;
    case 'gallery':
      return <GalleryDialog />;
    case 'files':
      return <FilesDialog />;
    case 'save':
      return <SaveDialog />;
    case 'export':
      return <ExportDialog />;
    case 'import':
      return <ImportDialog />;
    case 'differentiate':
      return <DifferentiateDialog />;
    case 'loop':
      return <LoopDialog />;
    case 'engine':
      return <EngineDialog />;
    case 'keys':
      return <KeysDialog />;
  }
}
