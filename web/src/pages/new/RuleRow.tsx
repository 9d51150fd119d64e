import { capital } from "../../logic/format.ts";
import type { FoundValues } from "./logic/found.ts";
import { JSON_SOURCES, type Rule, VALUE_TYPES, WAY_NAMES, WAYS } from "./logic/rules.ts";
import { Button, IconButton } from "../../ui/Button.tsx";
import { Checkbox, Input, Select } from "../../ui/Field.tsx";

const WAY_CHOICES = WAYS.map((value) => ({ value, name: WAY_NAMES[value] }));
const TYPE_NAMES: Readonly<Record<string, string>> = { url: "URL", html: "HTML" };
const TYPE_CHOICES = [
  { value: "", name: "No conversion" },
  ...VALUE_TYPES.map((value) => ({ value, name: TYPE_NAMES[value] ?? capital(value) })),
];
const SOURCE_CHOICES = JSON_SOURCES.map((value) => ({ value, name: value === "" ? "Response body" : value }));
const EXAMPLES = { css: ".price", xpath: "//h1", jsonpath: "$.name", regex: "item-(\\d+)", known: "title" };

/** One field: its name, its selector, and the matches. */
export function RuleRow({
  rule,
  number,
  isArmed,
  error,
  found,
  onChange,
  onRemove,
  onFocus,
  onArm,
}: {
  rule: Rule;
  number: number;
  /** The next click on the page fills this field. */
  isArmed: boolean;
  error: string | undefined;
  found: FoundValues | null;
  onChange: (change: Partial<Rule>) => void;
  onRemove: () => void;
  onFocus: () => void;
  onArm: () => void;
}) {
  const hasAttribute = rule.way === "css" || rule.way === "xpath";
  return (
    <li className={`rule ${isArmed ? "rule-armed" : ""}`} onFocus={onFocus}>
      <div className="rule-line">
        <Input
          bare
          label={`Name of field ${number}`}
          placeholder="name"
          className="control rule-name"
          spellCheck={false}
          value={rule.name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <Select
          bare
          label={`Type of field ${number}`}
          choices={TYPE_CHOICES}
          value={rule.type}
          onChange={({ target }) => onChange({ type: target.value })}
        />
        <IconButton label={`Remove field ${number}`} icon="trash" onClick={onRemove} />
      </div>
      <div className="rule-line rule-where">
        <Select
          bare
          label={`Method of field ${number}`}
          choices={WAY_CHOICES}
          value={rule.way}
          onChange={({ target }) => onChange({ way: target.value as Rule["way"] })}
        />
        <Input
          bare
          label={`Selector of field ${number}`}
          placeholder={EXAMPLES[rule.way]}
          className="control mono"
          spellCheck={false}
          autoCapitalize="off"
          value={rule.text}
          error={error}
          onChange={({ target }) => onChange({ text: target.value })}
        />
      </div>
      <div className="rule-line rule-more">
        {hasAttribute ? (
          <Input
            bare
            label={`Attribute of field ${number}`}
            placeholder="attribute"
            className="control mono"
            spellCheck={false}
            value={rule.attr}
            onChange={({ target }) => onChange({ attr: target.value })}
          />
        ) : null}
        {rule.way === "jsonpath" ? (
          <Select
            bare
            label={`JSON of field ${number}`}
            choices={SOURCE_CHOICES}
            value={rule.from}
            onChange={({ target }) => onChange({ from: target.value })}
          />
        ) : null}
        <Checkbox
          label="All"
          title="All matches as a list"
          checked={rule.all}
          onChange={({ target }) => onChange({ all: target.checked })}
        />
        <Checkbox
          label="Required"
          title="If the value is missing, the page fails"
          checked={rule.required}
          onChange={({ target }) => onChange({ required: target.checked })}
        />
        <Button size="small" kind="quiet" aria-pressed={isArmed} onClick={onArm}>
          {isArmed ? "Click it on the page…" : "Pick again"}
        </Button>
      </div>
      <FoundLine found={found} />
    </li>
  );
}

function FoundLine({ found }: { found: FoundValues | null }) {
  if (found === null) return null;
  const { values, note, problems } = found;
  return (
    <div className="rule-found">
      {values.map((value, n) => (
        // Values may repeat; the index is the key.
        <code key={n} className="rule-value" title={value}>
          {value}
        </code>
      ))}
      <span className={values.length === 0 ? "rule-nothing" : "soft"}>{note}</span>
      {problems.map((text) => (
        <p key={text} className="field-error wrap">
          {text}
        </p>
      ))}
    </div>
  );
}
