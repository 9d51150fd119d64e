import { type FormEvent, useId, useState } from "react";
import { useChange } from "../../api/query.ts";
import { count } from "../../logic/format.ts";
import { readItems } from "../../logic/paste.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { Textarea } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";

export function AddItems({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [text, setText] = useState("");
  const formId = useId();
  const { items, mistakes } = readItems(text);
  const close = () => {
    setText("");
    add.reset();
    onClose();
  };
  const add = useChange("addQueueItems", {
    invalidates: ["listQueueItems", "getQueueStats", "listLanes", "getOverview"],
    onSuccess: ({ added, existing }) => {
      toast(`${count(added, "item")} added${existing === 0 ? "" : `, ${existing} known already`}`);
      close();
    },
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (items.length > 0 && mistakes.length === 0) add.mutate({ body: { items } });
  };
  const [first] = mistakes;
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Add items"
      wide
      unsaved={text.trim() !== ""}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="primary"
            needs="addQueueItems"
            type="submit"
            form={formId}
            busy={add.isPending}
            disabled={items.length === 0 || mistakes.length > 0}
          >
            {items.length === 0 ? "Add" : `Add ${count(items.length, "item")}`}
          </Button>
        </>
      }
    >
      <form id={formId} className="stack" onSubmit={onSubmit}>
        <Textarea
          label="Items, one per line"
          rows={9}
          spellCheck={false}
          className="control control-area mono"
          placeholder={
            'https://example.com/report.pdf\nreport-2026 https://example.com/2026.pdf\n{"artifact_id": "a1", "url": "https://example.com/a1", "priority": 5}'
          }
          help="Each line is a URL, a name followed by a URL, or an item as JSON. An item whose name exists is not added again."
          error={first === undefined ? undefined : `Line ${first.line}: ${first.message}`}
          value={text}
          onKeyDown={({ key, ctrlKey, metaKey, currentTarget }) => {
            // Enter alone starts a new line.
            if (key === "Enter" && (ctrlKey || metaKey)) currentTarget.form?.requestSubmit();
          }}
          onChange={(event) => {
            setText(event.target.value);
            add.reset();
          }}
        />
        {add.error === null ? null : <ErrorBox error={add.error} />}
      </form>
    </Dialog>
  );
}
