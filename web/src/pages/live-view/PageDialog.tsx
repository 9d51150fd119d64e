import { type FormEvent, useState } from "react";
import { Button } from "../../ui/Button.tsx";
import { Input } from "../../ui/Field.tsx";
import { answersOf, type LiveDialog } from "./logic/live-messages.ts";

/** What the page asks with alert, confirm, prompt or before it is left. It stands still until somebody answers. */
export function PageDialog({
  dialog,
  controls,
  send,
}: {
  dialog: LiveDialog;
  controls: boolean;
  send: (message: object) => void;
}) {
  const [text, setText] = useState(dialog.value);
  const { accept, dismiss } = answersOf(dialog);
  const answer = (accepts: boolean) => send({ type: "dialog", id: dialog.id, accept: accepts, text });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    answer(true);
  };
  return (
    <form className="live-dialog" role="alertdialog" aria-label="The page asks" onSubmit={onSubmit}>
      <p className="wrap">
        {dialog.message || (dialog.kind === "beforeunload" ? "Leave this page?" : "The page asks.")}
      </p>
      {dialog.kind === "prompt" ? (
        <Input
          label="Answer"
          bare
          autoComplete="off"
          disabled={!controls}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      ) : null}
      <div className="row">
        <Button type="submit" kind="primary" size="small" disabled={!controls}>
          {accept}
        </Button>
        {dismiss === null ? null : (
          <Button size="small" disabled={!controls} onClick={() => answer(false)}>
            {dismiss}
          </Button>
        )}
      </div>
    </form>
  );
}
