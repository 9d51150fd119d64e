import { type FormEvent, useId, useState } from "react";
import { useChange } from "../../api/query.ts";
import { count } from "../../logic/format.ts";
import { readLines } from "../../logic/paste.ts";
import { refusedLines } from "./proxies.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { Textarea } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";

/** Imports pasted proxies, one per line; rejected lines are listed, the others imported. */
export function ImportProxies({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [text, setText] = useState("");
  const formId = useId();
  const lines = readLines(text);
  const add = useChange("importProxies", {
    invalidates: ["listProxies"],
    onSuccess: ({ added, existing, invalid, invalid_count }) => {
      toast(
        `${count(added, "proxy", "proxies")} added${existing === 0 ? "" : `, ${existing} known already`}`,
        invalid_count === 0 ? "good" : "info",
      );
      if (invalid_count === 0) close();
      else setText(refusedLines(lines, { invalid, invalid_count }).join("\n"));
    },
  });
  const close = () => {
    setText("");
    add.reset();
    onClose();
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (lines.length > 0) add.mutate({ body: { proxies: lines } });
  };
  const invalid = add.data?.invalid ?? [];
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Import proxies"
      wide
      unsaved={lines.length > 0 && add.data === undefined}
      actions={
        <>
          <Button onClick={close}>{add.data === undefined ? "Cancel" : "Close"}</Button>
          <Button
            kind="primary"
            needs="importProxies"
            type="submit"
            form={formId}
            busy={add.isPending}
            disabled={lines.length === 0}
          >
            {lines.length === 0 ? "Import" : `Import ${count(lines.length, "proxy", "proxies")}`}
          </Button>
        </>
      }
    >
      <form id={formId} className="stack" onSubmit={onSubmit}>
        <Textarea
          label="Proxies, one per line"
          rows={9}
          spellCheck={false}
          className="control control-area mono"
          placeholder={"http://203.0.113.7:8080\nsocks5://user:password@proxy.example:1080\n203.0.113.8:3128"}
          help="User names and passwords are stored encrypted and never shown again."
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {add.error === null ? null : <ErrorBox error={add.error} />}
        {invalid.length === 0 ? null : (
          <div className="error-box" role="alert">
            <div className="error-words">
              <p className="error-title">{count(add.data?.invalid_count ?? 0, "line")} could not be used</p>
              <ul className="error-fields">
                {/* The text now contains only the rejected lines, in order. */}
                {invalid.slice(0, 20).map(({ index, message }, row) => (
                  <li key={index} className="wrap">
                    Line {row + 1}: {message}
                  </li>
                ))}
              </ul>
            </div>
          </div>
        )}
      </form>
    </Dialog>
  );
}
