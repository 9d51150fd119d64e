import { type FormEvent, useState } from "react";
import { useChange } from "../../api/query.ts";
import { capital } from "../../logic/format.ts";
import { Button } from "../../ui/Button.tsx";
import { Checkbox, Input, Select } from "../../ui/Field.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { bodyOf, type Channel, emptyForm, formOf, type Kind, SENDS, type Typed } from "./channel-form.ts";

const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Adds or changes a channel; the fields are those that its kind declares. */
export function ChannelDialog({
  channel,
  kinds,
  onClose,
}: {
  /** Null: a new one. */
  channel: Channel | null;
  kinds: readonly Kind[];
  onClose: () => void;
}) {
  const [typed, setTyped] = useState(() =>
    channel === null ? emptyForm(kinds[0]?.kind ?? "", zone()) : formOf(channel, zone()),
  );
  const [isChanged, setChanged] = useState(false);
  const done = { invalidates: ["listChannels"] as const, onSuccess: () => onClose() };
  const create = useChange("createChannel", { ...done, invalidates: ["listChannels"] });
  const update = useChange("updateChannel", { ...done, invalidates: ["listChannels"] });
  const change = channel === null ? create : update;
  const kind = kinds.find((one) => one.kind === typed.kind);
  const set = (more: Partial<Typed>) => {
    setChanged(true);
    setTyped((old) => ({ ...old, ...more }));
  };
  const problems = change.error?.fields ?? [];
  const errorOf = (path: string) => {
    const found = problems.find((problem) => problem.path === path || problem.path.startsWith(`${path}[`));
    return found === undefined ? undefined : `${capital(found.message)}.`;
  };
  const shown = new Set(["name", "group_minutes", "quiet_hours.from", "quiet_hours.to", "quiet_hours.timezone"]);
  const isShown = ({ path }: { path: string }) => shown.has(path) || path.startsWith("settings.");
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (kind === undefined) return;
    const body = bodyOf(typed, kind, channel);
    const said = () => toast(channel === null ? "The channel is added. Send a test." : "Saved", "good");
    if (channel === null) create.mutate({ body: { ...body, kind: kind.kind as Channel["kind"] } }, { onSuccess: said });
    else update.mutate({ params: { channel_id: channel.id }, body }, { onSuccess: said });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={channel === null ? "Add channel" : `Change ${channel.name}`}
      unsaved={isChanged}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="channel" busy={change.isPending}>
            {channel === null ? "Add channel" : "Save"}
          </Button>
        </>
      }
    >
      <form id="channel" className="stack" noValidate onSubmit={onSubmit}>
        {change.error !== null && !problems.some(isShown) ? <ErrorBox error={change.error} /> : null}
        {channel === null ? (
          <Select
            label="Kind"
            value={typed.kind}
            choices={kinds.map(({ kind: value, label }) => ({ value, name: label }))}
            help={kind === undefined ? undefined : `${capital(kind.about)}.`}
            onChange={({ target }) => set({ kind: target.value, settings: {} })}
          />
        ) : null}
        <Input
          label="Name"
          value={typed.name}
          error={errorOf("name")}
          autoComplete="off"
          onChange={({ target }) => set({ name: target.value })}
        />
        {kind?.fields.map((field) => (
          <KindField
            key={field.name}
            field={field}
            value={typed.settings[field.name] ?? ""}
            isSet={channel?.secrets.includes(field.name) === true}
            error={errorOf(`settings.${field.name}`)}
            onChange={(value) => set({ settings: { ...typed.settings, [field.name]: value } })}
          />
        ))}
        <Select
          label="Send"
          value={typed.sends}
          choices={[...SENDS, ...(typed.sends === "rules" ? [{ value: "rules", name: "By its own rules" }] : [])]}
          help={
            typed.sends === "rules"
              ? "Its rules were set by command or API; choosing another replaces them."
              : undefined
          }
          onChange={({ target }) => set({ sends: target.value as Typed["sends"] })}
        />
        {typed.sends === "jobs" || typed.sends === "rules" ? null : (
          <>
            <Input
              label="Only jobs with these tags"
              value={typed.tags}
              help="Separated by commas. Empty: all."
              error={errorOf("rules[0].tags")}
              onChange={({ target }) => set({ tags: target.value })}
            />
            <Input
              label="Only these sites"
              value={typed.sites}
              help="With their subdomains, separated by commas. Empty: all."
              error={errorOf("rules[0].sites")}
              onChange={({ target }) => set({ sites: target.value })}
            />
          </>
        )}
        <div className="channel-times">
          <Input
            label="Quiet from"
            type="time"
            value={typed.quietFrom}
            error={errorOf("quiet_hours.from")}
            onChange={({ target }) => set({ quietFrom: target.value })}
          />
          <Input
            label="Quiet until"
            type="time"
            value={typed.quietTo}
            error={errorOf("quiet_hours.to")}
            onChange={({ target }) => set({ quietTo: target.value })}
          />
          <Input
            label="Time zone"
            value={typed.timezone}
            error={errorOf("quiet_hours.timezone")}
            onChange={({ target }) => set({ timezone: target.value })}
          />
        </div>
        <Checkbox
          label="Send errors in quiet hours, too"
          checked={typed.quietExcept}
          onChange={({ target }) => set({ quietExcept: target.checked })}
        />
        <Input
          label="Minutes between messages"
          type="number"
          min={0}
          max={1440}
          value={typed.group}
          help="What comes in between is sent together. 0: each at once."
          error={errorOf("group_minutes")}
          onChange={({ target }) => set({ group: target.value })}
        />
      </form>
    </Dialog>
  );
}

function KindField({
  field: { label, about, type, secret, required, example, choices, default: preset },
  value,
  isSet,
  error,
  onChange,
}: {
  field: Kind["fields"][number];
  value: string;
  /** A secret that is stored. */
  isSet: boolean;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const name = required || isSet ? label : `${label} (optional)`;
  const help = `${capital(about)}.${isSet ? " Stored; leave it empty to keep it." : ""}`;
  if (choices !== null)
    return (
      <Select
        label={label}
        value={value === "" ? String(preset) : value}
        help={help}
        error={error}
        choices={choices.map((choice) => ({ value: choice, name: choice }))}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  return (
    <Input
      label={name}
      type={secret ? "password" : type === "integer" ? "number" : "text"}
      value={value}
      help={help}
      error={error}
      placeholder={isSet ? "••••••••" : (example ?? (preset === null ? "" : String(preset)))}
      autoComplete={secret ? "new-password" : "off"}
      spellCheck={false}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
