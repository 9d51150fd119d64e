import { GENERAL, GO_TO, IN_LISTS } from "../logic/shortcuts.ts";
import { Dialog } from "../ui/overlay/Dialog.tsx";
import { KeyHints } from "../ui/overlay/KeyHints.tsx";

export function Help({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts" wide>
      <div className="help-columns">
        <div>
          <KeyHints title="Anywhere" shortcuts={GENERAL} />
          <KeyHints title="In lists" shortcuts={IN_LISTS} />
        </div>
        <KeyHints title="Go to" shortcuts={GO_TO} />
      </div>
    </Dialog>
  );
}
