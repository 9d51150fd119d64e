import { type FormEvent, type ReactNode, useState } from "react";
import type { Problem } from "../../api/client.ts";
import { Button } from "../../ui/Button.tsx";
import { Input } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";

/** Stores the session; a waiting run then goes on with it. */
export function SaveForm({
  isOfRun,
  first,
  busy,
  error,
  onSave,
  children,
}: {
  isOfRun: boolean;
  /** As named when the view was opened. */
  first: { name: string | null; check_url: string | null };
  busy: boolean;
  error: Problem | null;
  onSave: (body: { name: string | null; check_url: string | null }) => void;
  children: ReactNode;
}) {
  const [name, setName] = useState(first.name ?? "");
  const [check, setCheck] = useState(first.check_url ?? "");
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    onSave({
      name: name.trim() === "" ? null : name.trim(),
      check_url: check.trim() === "" ? null : check.trim(),
    });
  };
  return (
    <form className="live-save" noValidate onSubmit={onSubmit}>
      <div className="live-save-fields">
        <Input
          label="Name of the session"
          placeholder="optional"
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        {isOfRun ? null : (
          <Input
            label="Page to test it with"
            placeholder="optional"
            className="control mono"
            inputMode="url"
            autoComplete="off"
            value={check}
            onChange={({ target }) => setCheck(target.value)}
          />
        )}
      </div>
      {error === null ? null : <ErrorBox error={error} />}
      <div className="row">
        <Button type="submit" kind="primary" busy={busy}>
          {isOfRun ? "Done: continue the run" : "Save session"}
        </Button>
        {children}
      </div>
    </form>
  );
}
