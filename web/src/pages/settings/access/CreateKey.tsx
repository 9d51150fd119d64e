import { type FormEvent, useState } from "react";
import { useChange, usePages } from "../../../api/query.ts";
import { capital, count, exactTime } from "../../../logic/format.ts";
import { serverNow } from "../../../logic/server-time.ts";
import { Button } from "../../../ui/Button.tsx";
import { Checkbox, Input, Select } from "../../../ui/Field.tsx";
import { Dialog } from "../../../ui/overlay/Dialog.tsx";
import { ErrorBox } from "../../../ui/States.tsx";
import { Code } from "../../../ui/text/Code.tsx";
import { nameOf } from "../../jobs/job-names.ts";
import { toast } from "../../../ui/overlay/Toast.tsx";
import {
  bodyOf,
  changeOf,
  expiriesOf,
  isRate,
  type Key,
  missingOf,
  NEW_KEY,
  ROLES,
  type Typed,
  typedOf,
} from "./key-form.ts";

/** Creates a key, and shows it this once. */
export function CreateKey({ onClose }: { onClose: () => void }) {
  const create = useChange("createKey", { invalidates: ["listKeys", "listAuditLog"] });
  if (create.data !== undefined) return <Created name={create.data.name} secret={create.data.key} onClose={onClose} />;
  return (
    <KeyForm
      of={null}
      busy={create.isPending}
      error={create.error}
      onClose={onClose}
      onSubmit={(typed) => create.mutate({ body: bodyOf(typed, serverNow()) })}
    />
  );
}

/** Changes a key; the key itself stays. */
export function EditKey({ of, onClose }: { of: Key; onClose: () => void }) {
  const change = useChange("changeKey", {
    invalidates: ["listKeys", "getOwnKey", "listAuditLog"],
    onSuccess: ({ name }) => {
      toast(`The key ${name} is changed`);
      onClose();
    },
  });
  const submit = (typed: Typed) => {
    const body = changeOf(of, typed, serverNow());
    if (Object.keys(body).length === 0) onClose();
    else change.mutate({ params: { key_id: of.id }, body });
  };
  return <KeyForm of={of} busy={change.isPending} error={change.error} onClose={onClose} onSubmit={submit} />;
}

function Created({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={`The key ${name}`}
      actions={
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <div className="stack">
        <p>
          <b>Copy the key now.</b> Only its hash is stored: it cannot be shown again.
        </p>
        <Code text={secret} label="Copy the key" wrap />
        <p className="soft">
          Send it as <code>Authorization: Bearer …</code>, set it as <code>APP_API_TOKEN</code> of{" "}
          <code>orb … --url</code>, or sign in to this dashboard with it.
        </p>
      </div>
    </Dialog>
  );
}

/** `of`: the key that is changed; null: a new one. */
function KeyForm({
  of,
  busy,
  error,
  onClose,
  onSubmit,
}: {
  of: Key | null;
  busy: boolean;
  error: ReturnType<typeof useChange<"createKey">>["error"];
  onClose: () => void;
  onSubmit: (typed: Typed) => void;
}) {
  const [first] = useState(() => (of === null ? NEW_KEY : typedOf(of)));
  const [typed, setTyped] = useState(first);
  const [missing, setMissing] = useState<string | null>(null);
  const set = (more: Partial<Typed>) => {
    setMissing(null);
    setTyped((old) => ({ ...old, ...more }));
  };
  const problems = error?.fields ?? [];
  const errorOf = (path: string) => {
    const found = problems.find((one) => one.path === path || one.path.startsWith(`${path}[`));
    return found === undefined ? undefined : `${capital(found.message)}.`;
  };
  const isNamed = problems.some(({ path }) => /^(name|sites|tags|requests_per_minute|expires_at)\b/.test(path));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const why = missingOf(typed);
    setMissing(why);
    if (why === null) onSubmit(typed);
  };
  const isAdmin = typed.role === "admin";
  return (
    <Dialog
      open
      onClose={onClose}
      title={of === null ? "Create key" : `Change ${of.name}`}
      unsaved={typed !== first}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            needs={of === null ? "createKey" : "changeKey"}
            type="submit"
            form="key-form"
            busy={busy}
          >
            {of === null ? "Create key" : "Save changes"}
          </Button>
        </>
      }
    >
      <form id="key-form" className="stack" noValidate onSubmit={submit}>
        {error === null || isNamed ? null : <ErrorBox error={error} />}
        <Input
          label="Name"
          value={typed.name}
          help="Who or what uses it: appears in the audit log."
          placeholder="ci"
          maxLength={200}
          autoComplete="off"
          error={missing !== null && typed.name.trim() === "" ? missing : errorOf("name")}
          onChange={({ target }) => set({ name: target.value })}
        />
        <Select
          label="Role"
          value={typed.role}
          choices={ROLES}
          onChange={({ target }) => set({ role: target.value as Typed["role"] })}
        />
        {isAdmin ? (
          <p className="soft">
            An admin cannot be limited to jobs, sites or tags: it could create a key without limits.
          </p>
        ) : (
          <>
            <JobChoice chosen={typed.jobs} onChange={(jobs) => set({ jobs })} />
            <Input
              label="Only these sites"
              value={typed.sites}
              help="Hosts, separated by commas. Empty: all."
              placeholder="shop.example"
              autoComplete="off"
              error={errorOf("sites")}
              onChange={({ target }) => set({ sites: target.value })}
            />
            <Input
              label="Only jobs with one of these tags"
              value={typed.tags}
              help="Separated by commas. Empty: all. If several kinds of limits are set, all of them apply."
              autoComplete="off"
              error={errorOf("tags")}
              onChange={({ target }) => set({ tags: target.value })}
            />
          </>
        )}
        <Input
          label="Requests per minute"
          inputMode="numeric"
          value={typed.rate}
          help="For each server process. Empty: no limit."
          error={missing !== null && !isRate(typed.rate) ? missing : errorOf("requests_per_minute")}
          onChange={({ target }) => set({ rate: target.value })}
        />
        <div className="key-expiry">
          <Select
            label="Expires"
            value={typed.expires}
            choices={expiriesOf(of, (at) => exactTime(Date.parse(at)))}
            error={typed.expires === "on" ? undefined : errorOf("expires_at")}
            onChange={({ target }) => set({ expires: target.value })}
          />
          {typed.expires === "on" ? (
            <Input
              label="Last day"
              type="date"
              value={typed.date}
              error={missing !== null && typed.date === "" ? missing : errorOf("expires_at")}
              onChange={({ target }) => set({ date: target.value })}
            />
          ) : null}
        </div>
        {of === null ? null : (
          <p className="soft">
            The key itself stays. Changes hold within a second; with another role or other limits, its open streams end
            and begin anew.
          </p>
        )}
      </form>
    </Dialog>
  );
}

/** Jobs by name; chosen ones stay on the list while others are searched. */
function JobChoice({ chosen, onChange }: { chosen: readonly string[]; onChange: (jobs: string[]) => void }) {
  const [q, setQ] = useState("");
  const jobs = usePages("listJobs", { query: { limit: 100, ...(q.trim() === "" ? {} : { q: q.trim() }) } });
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const listed = jobs.rows.map((job) => ({ id: job.id, name: nameOf(job) }));
  const others = chosen.filter((id) => !listed.some((job) => job.id === id));
  const toggle = (id: string, name: string, isChosen: boolean) => {
    setNames((old) => new Map(old).set(id, name));
    onChange(isChosen ? [...chosen, id] : chosen.filter((one) => one !== id));
  };
  return (
    <fieldset className="key-jobs">
      <legend className="field-label">
        Only these jobs{chosen.length === 0 ? "" : ` (${count(chosen.length, "job")} chosen)`}
      </legend>
      <Input
        label="Search jobs"
        bare
        type="search"
        placeholder="Search jobs"
        maxLength={200}
        value={q}
        onChange={({ target }) => setQ(target.value)}
      />
      <div className="key-jobs-list">
        {[...others.map((id) => ({ id, name: names.get(id) ?? id })), ...listed].map(({ id, name }) => (
          <Checkbox
            key={id}
            label={<span className="wrap">{name}</span>}
            checked={chosen.includes(id)}
            onChange={({ target }) => toggle(id, name, target.checked)}
          />
        ))}
        {listed.length === 0 && others.length === 0 && !jobs.isPending ? (
          <p className="soft">{q.trim() === "" ? "There are no jobs yet." : "No job has this name."}</p>
        ) : null}
      </div>
      <div className="field-help">None chosen: all jobs.</div>
    </fieldset>
  );
}
