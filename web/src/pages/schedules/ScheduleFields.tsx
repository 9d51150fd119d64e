/** Editor of a job's schedule: presets, cron, and the resulting times. */
import { useEffect, useId, useState } from "react";
import { useCall } from "../../api/query.ts";
import { capital } from "../../logic/format.ts";
import {
  browserZone,
  type Chosen,
  cronOf,
  localWords,
  type Preset,
  presetNote,
  presetOf,
  PRESETS,
  WEEKDAYS,
} from "./schedule-presets.ts";
import { Field, Input, Select } from "../../ui/Field.tsx";
import "./schedule-fields.css";

interface ScheduleForm {
  /** A cron expression; empty: none. */
  schedule: string;
  timezone: string;
}

interface Props {
  form: ScheduleForm;
  change: (more: Partial<ScheduleForm>) => void;
  errors: Partial<Record<keyof ScheduleForm, string | undefined>>;
}

/** Delays validation while an expression is being typed. */
const TYPED_MS = 400;

function useSettled<T>(value: T): T {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), TYPED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

export function ScheduleFields({ form, change, errors }: Props) {
  // A cron expression being typed may equal that of a preset.
  const [isCustom, setCustom] = useState(false);
  const known = presetOf(form.schedule);
  const chosen: Chosen = isCustom ? { ...known, preset: "custom" } : known;
  const { preset } = chosen;
  const put = (more: Partial<Chosen>) => change({ schedule: cronOf({ ...chosen, ...more }) });
  const choose = (next: Preset) => {
    setCustom(next === "custom");
    // A time of day means the user's own time zone.
    const zone = form.timezone === "" && preset === "none" && next !== "none" ? { timezone: browserZone() } : {};
    if (next === "custom") change({ ...zone, schedule: form.schedule });
    else change({ ...zone, schedule: cronOf({ ...chosen, preset: next }) });
  };
  const preview = useNextTimes(form.schedule, form.timezone);
  const cronError = errors.schedule ?? preview.errors["cron"];
  const hasTime = preset !== "none" && preset !== "hourly" && preset !== "custom";
  return (
    <div className="stack schedule-fields">
      <div className="schedule-grid">
        <Select
          label="Schedule"
          help="When the job runs automatically."
          choices={PRESETS}
          value={preset}
          onChange={({ target }) => choose(target.value as Preset)}
        />
        {preset === "custom" ? (
          <Input
            label="Cron expression"
            help="Minute, hour, day, month, weekday: “0 6 * * *” is every day at six."
            error={cronError}
            value={form.schedule}
            placeholder="0 6 * * *"
            spellCheck={false}
            className="control mono"
            onChange={({ target }) => {
              setCustom(true);
              change({ schedule: target.value });
            }}
          />
        ) : null}
        {preset === "hourly" ? (
          <Input
            label="Minute"
            type="number"
            min={0}
            max={59}
            error={cronError}
            value={chosen.minute}
            onChange={({ target }) => {
              const minute = Math.min(59, Math.max(0, Math.floor(target.valueAsNumber || 0)));
              put({ minute: String(minute) });
            }}
          />
        ) : null}
        {preset === "weekly" ? (
          <Select
            label="Day"
            choices={WEEKDAYS}
            value={chosen.weekday}
            onChange={({ target }) => put({ weekday: target.value })}
          />
        ) : null}
        {preset === "monthly" ? (
          <Select
            label="Day of the month"
            choices={DAYS}
            value={chosen.day}
            onChange={({ target }) => put({ day: target.value })}
          />
        ) : null}
        {hasTime ? (
          <Input
            label="Time"
            type="time"
            required
            error={cronError}
            value={chosen.time}
            onChange={({ target }) => {
              if (target.value !== "") put({ time: target.value });
            }}
          />
        ) : null}
        {preset === "none" ? null : (
          <ZoneField
            error={errors.timezone ?? preview.errors["timezone"]}
            value={form.timezone}
            onChange={(timezone) => change({ timezone })}
          />
        )}
      </div>
      {preset === "none" ? null : <NextTimes chosen={chosen} preview={preview} />}
    </div>
  );
}

const DAYS = Array.from({ length: 31 }, (_value, index) => ({ value: String(index + 1), name: String(index + 1) }));
const ZONES: readonly string[] = ["UTC", ...Intl.supportedValuesOf("timeZone")];

function ZoneField(props: { error: string | undefined; value: string; onChange: (zone: string) => void }) {
  const list = useId();
  const { error, value, onChange } = props;
  return (
    <Field label="Time zone" help="Time zone of the schedule. Empty: UTC." error={error}>
      {(ids) => (
        <>
          <input
            className="control"
            list={list}
            value={value}
            placeholder="UTC"
            spellCheck={false}
            {...ids}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={list}>
            {ZONES.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

interface Times {
  times: readonly { at: string; local: string }[];
  errors: Readonly<Record<string, string>>;
}

/** Computed by the server, including daylight saving time. */
function useNextTimes(schedule: string, zone: string): Times {
  const cron = useSettled(schedule.trim());
  const timezone = useSettled(zone.trim());
  const query = { cron, ...(timezone === "" ? {} : { timezone }) };
  const { data, error } = useCall("previewSchedule", { query }, { enabled: cron !== "" });
  if (cron === "") return { times: [], errors: {} };
  const errors = (error?.fields ?? []).map(({ path, message }) => [path, `${capital(message)}.`]);
  return { times: error === null ? (data?.next_times ?? []) : [], errors: Object.fromEntries(errors) };
}

function NextTimes({ chosen, preview: { times } }: { chosen: Chosen; preview: Times }) {
  const note = presetNote(chosen);
  return (
    <div className="schedule-preview" aria-live="polite">
      {times.length === 0 ? null : (
        <>
          <span className="field-label">Next runs</span>
          <ol aria-label="Next runs" className="schedule-preview-times num">
            {times.map(({ at, local }) => (
              <li key={at}>{localWords(local)}</li>
            ))}
          </ol>
        </>
      )}
      {note === null ? null : <p className="soft">{note}</p>}
    </div>
  );
}
