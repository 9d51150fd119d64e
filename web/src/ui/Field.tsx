import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import type { OperationName } from "../api/client.ts";
import { useRefusal } from "./rights.ts";
import "./field.css";

interface Words {
  /** Also its accessible name. */
  label: string;
  help?: ReactNode;
  /** Validation error. */
  error?: string | undefined;
  /** The label is for screen readers only. */
  bare?: boolean;
}

interface Ids {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

/** Label, control, help and error. */
export function Field({ label, help, error, bare = false, children }: Words & { children: (ids: Ids) => ReactNode }) {
  const id = useId();
  const described = [help === undefined ? "" : `${id}-help`, error === undefined ? "" : `${id}-error`].join(" ").trim();
  return (
    <div className="field">
      <label htmlFor={id} className={bare ? "spoken" : "field-label"}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": described === "" ? undefined : described,
        "aria-invalid": error === undefined ? undefined : true,
      })}
      {help === undefined ? null : (
        <div className="field-help" id={`${id}-help`}>
          {help}
        </div>
      )}
      {error === undefined ? null : (
        <div className="field-error" id={`${id}-error`}>
          {error}
        </div>
      )}
    </div>
  );
}

export function Input({ label, help, error, bare, ...rest }: Words & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} help={help} error={error} {...(bare === undefined ? {} : { bare })}>
      {(ids) => <input className="control" {...ids} {...rest} />}
    </Field>
  );
}

export function Textarea({ label, help, error, bare, ...rest }: Words & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} help={help} error={error} {...(bare === undefined ? {} : { bare })}>
      {(ids) => <textarea className="control control-area" rows={4} {...ids} {...rest} />}
    </Field>
  );
}

export interface Choice {
  value: string;
  name: string;
}

/** For controls that apply at once: disabled with the reason if the caller may not make the call. */
interface Applied {
  needs?: OperationName;
}

export function Select({
  label,
  help,
  error,
  bare,
  choices,
  needs,
  disabled,
  title,
  ...rest
}: Words & Applied & { choices: readonly Choice[] } & SelectHTMLAttributes<HTMLSelectElement>) {
  const refusal = useRefusal(needs);
  return (
    <Field label={label} help={help} error={error} {...(bare === undefined ? {} : { bare })}>
      {(ids) => (
        <select
          className="control control-select"
          disabled={disabled === true || refusal !== null}
          title={refusal ?? title}
          {...ids}
          {...rest}
        >
          {choices.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A boolean. As a switch it applies at once; as a checkbox it belongs to a form. */
function Tick({
  label,
  help,
  look,
  needs,
  disabled,
  title,
  ...rest
}: { label: ReactNode; help?: ReactNode; look: "box" | "switch" } & Applied & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const refusal = useRefusal(needs);
  return (
    <div className="tick">
      <input
        type="checkbox"
        id={id}
        className={`tick-${look}`}
        role={look === "switch" ? "switch" : undefined}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
        disabled={disabled === true || refusal !== null}
        title={refusal ?? title}
        {...rest}
      />
      <label htmlFor={id}>{label}</label>
      {help === undefined ? null : (
        <div className="field-help" id={`${id}-help`}>
          {help}
        </div>
      )}
    </div>
  );
}

type TickProps = { label: ReactNode; help?: ReactNode } & Applied & Omit<InputHTMLAttributes<HTMLInputElement>, "type">;

export const Checkbox = (props: TickProps) => <Tick look="box" {...props} />;
export const Switch = (props: TickProps) => <Tick look="switch" {...props} />;

/** A few exclusive choices, side by side. */
export function Segmented({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: string;
  choices: readonly Choice[];
  onChange: (value: string) => void;
}) {
  const name = useId();
  return (
    <fieldset className="segmented">
      <legend className="spoken">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} className={choice.value === value ? "segment segment-on" : "segment"}>
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          {choice.name}
        </label>
      ))}
    </fieldset>
  );
}
