import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { useChange } from "../../api/query.ts";
import { capital } from "../../logic/format.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { Checkbox, Input } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";

/** Opens a page in the server's browser, to sign in there from here. */
export function SignInByHand({ open, page, onClose }: { open: boolean; page: string | null; onClose: () => void }) {
  const [, go] = useLocation();
  const [url, setUrl] = useState(page ?? "");
  const [mobile, setMobile] = useState(false);
  const [record, setRecord] = useState(false);
  const begin = useChange("openLiveView", { onSuccess: ({ id }) => go(`/live-views/${id}`) });
  const problem = begin.error?.fields.find(({ path }) => path === "url");
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const typed = url.trim();
    begin.mutate({ body: { url: /^[a-z]+:/i.test(typed) ? typed : `https://${typed}`, mobile, record } });
  };
  return (
    <Dialog
      open={open}
      onClose={() => {
        begin.reset();
        onClose();
      }}
      title="Sign in by hand"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form="sign-in-by-hand"
            busy={begin.isPending}
            disabled={url.trim() === ""}
          >
            Open live view
          </Button>
        </>
      }
    >
      <form id="sign-in-by-hand" className="stack" noValidate onSubmit={onSubmit}>
        <p>
          The server opens the page in its own browser and shows it here. Sign in with mouse and keyboard; the cookies
          are then stored as a session.
        </p>
        <Input
          label="Sign-in page"
          placeholder="https://example.com/login"
          inputMode="url"
          className="control mono"
          autoComplete="off"
          spellCheck={false}
          value={url}
          error={problem === undefined ? undefined : `${capital(problem.message)}.`}
          onChange={({ target }) => setUrl(target.value)}
        />
        <Checkbox label="Emulate a phone" checked={mobile} onChange={({ target }) => setMobile(target.checked)} />
        <Checkbox
          label="Record what I do as browser actions"
          help="For jobs that repeat it. Passwords are not recorded."
          checked={record}
          onChange={({ target }) => setRecord(target.checked)}
        />
        {begin.error === null || problem !== undefined ? null : <ErrorBox error={begin.error} />}
      </form>
    </Dialog>
  );
}
