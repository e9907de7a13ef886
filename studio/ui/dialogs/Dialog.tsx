import { type ReactNode, useEffect, useRef } from 'react';
import { closeDialog } from '../state/screen';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly wide?: boolean;
}

/** The browser's own dialog: it keeps the keyboard inside, closes by Escape and gives the focus back. */
export function Dialog({ title, children, wide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    // The browser would choose the first button, which closes the dialog.
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      dialog?.close();
      // What was opened by placing a block may already have taken the focus elsewhere.
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is one on the backdrop; Escape is the key for it
    <dialog
      ref={element}
      className={`dialog ${wide ? 'wide' : ''}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        closeDialog();
      }}
      onClick={(event) => event.target === event.currentTarget && closeDialog()}
    >
      <div className="dialog-inner">
        <div className="dialog-head">
          <h2>{title}</h2>
          <button type="button" className="icon" aria-label="Close" onClick={closeDialog}>
            {'\u2715'}
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
