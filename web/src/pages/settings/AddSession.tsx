import { type FormEvent, useState } from "react";
import { useChange } from "../../api/query.ts";
import { capital } from "../../logic/format.ts";
import { originTyped } from "../../logic/sessions.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { Input, Textarea } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";

const EMPTY = { name: "", origin: "", cookies: "", check: "" };
const FIELDS: readonly (readonly [key: keyof typeof EMPTY, path: string])[] = [
  ["name", "name"],
  ["origin", "origin"],
  ["cookies", "cookies"],
  ["check", "check_url"],
];

/** Cookies as exported from a browser; sent once, sealed, and not stored by this page. */
export function AddSession({
  open,
  page,
  onClose,
}: {
  open: boolean;
  /** The page that needs it: fills in the site and the check URL. */
  page: string | null;
  onClose: () => void;
}) {
  const first = page === null ? EMPTY : { ...EMPTY, origin: originTyped(page), check: page };
  const [typed, setTyped] = useState(first);
  const create = useChange("createSession", {
    invalidates: ["listSessions"],
    onSuccess: ({ name, origin }) => {
      toast(`The session ${name ?? origin} is stored`, "good");
      close();
    },
  });
  const close = () => {
    setTyped(EMPTY);
    create.reset();
    onClose();
  };
  const problems = create.error?.fields ?? [];
  const errorOf = (path: string) => {
    const found = problems.find((problem) => problem.path === path || problem.path.startsWith(`${path}.`));
    return found === undefined ? undefined : `${capital(found.message)}.`;
  };
  const isNamed = problems.some(({ path }) =>
    FIELDS.some(([, known]) => path === known || path.startsWith(`${known}.`)),
  );
  const field = (key: keyof typeof EMPTY, path: string) => ({
    value: typed[key],
    error: errorOf(path),
    autoComplete: "off",
    spellCheck: false,
    onChange: ({ target }: { target: { value: string } }) => setTyped((old) => ({ ...old, [key]: target.value })),
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const { name, origin, cookies, check } = typed;
    create.mutate({
      body: {
        origin: originTyped(origin),
        cookies,
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(check.trim() === "" ? {} : { check_url: check.trim() }),
      },
    });
  };
  const isComplete = typed.origin.trim() !== "" && typed.cookies.trim() !== "";
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Add session"
      unsaved={typed.cookies !== ""}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="primary"
            needs="createSession"
            type="submit"
            form="add-session"
            busy={create.isPending}
            disabled={!isComplete}
          >
            Store session
          </Button>
        </>
      }
    >
      <form id="add-session" className="stack" noValidate onSubmit={onSubmit}>
        <Input
          label="Name"
          help="The name of the session in commands and the API."
          placeholder="shop"
          {...field("name", "name")}
        />
        <Input
          label="Site"
          help="Cookies are sent to this origin only."
          placeholder="https://example.com"
          inputMode="url"
          className="control mono"
          {...field("origin", "origin")}
        />
        <Textarea
          label="Cookies"
          help="JSON, a Netscape cookies.txt, or a header: name=value; other=value. Cookies of other sites are ignored."
          className="control control-area mono"
          rows={6}
          {...field("cookies", "cookies")}
        />
        <Input
          label="Page to test it with"
          help="A page that requires the sign-in. Default: the site’s front page."
          placeholder="https://example.com/account"
          inputMode="url"
          className="control mono"
          {...field("check", "check_url")}
        />
        {create.error === null || isNamed ? null : <ErrorBox error={create.error} />}
      </form>
    </Dialog>
  );
}
