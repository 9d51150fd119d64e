/** Browser actions before the page is extracted. */
import { ACTIONS, type ActionKind, browserReason, newAction, type TypedAction } from "./logic/page-options.ts";
import { Button, IconButton } from "../../ui/Button.tsx";
import { Checkbox, Input, Select } from "../../ui/Field.tsx";
import type { NewState } from "./useNew.ts";

export function BrowserFields({ state: { form, change, errors } }: { state: NewState }) {
  const { actions } = form;
  const reason = form.strategy === "browser" ? null : browserReason(form);
  const put = (next: readonly TypedAction[]) => change({ actions: next });
  const swap = (n: number) =>
    put(actions.map((one, at) => (at === n ? actions[n - 1]! : at === n - 1 ? actions[n]! : one)));
  const nextId = Math.max(0, ...actions.map(({ id }) => id)) + 1;
  return (
    <fieldset className="new-part">
      <legend>In the browser</legend>
      <div className="new-grid">
        <Input
          label="Wait for"
          help="The browser waits until this CSS selector matches."
          error={errors.waitFor}
          value={form.waitFor}
          placeholder=".results li"
          spellCheck={false}
          className="control mono"
          onChange={({ target }) => change({ waitFor: target.value })}
        />
        <Input
          label="Then wait, in milliseconds"
          type="number"
          min={0}
          error={errors.waitMs}
          value={form.waitMs}
          placeholder="0"
          onChange={({ target }) => change({ waitMs: target.value })}
        />
      </div>
      <Checkbox
        label="Emulate a phone"
        help="A phone’s window, touch screen and user agent."
        checked={form.mobile}
        onChange={({ target }) => change({ mobile: target.checked })}
      />
      <Checkbox
        label="Block images, fonts and media"
        checked={form.blockResources}
        onChange={({ target }) => change({ blockResources: target.checked })}
      />
      <div className="new-actions-list">
        <span className="field-label">Actions</span>
        <span className="field-help">
          Performed in this order before the page is read{form.kind === "crawl" ? ", on every page" : ""}.
        </span>
        {actions.length === 0 ? null : (
          <ol>
            {actions.map((action, n) => (
              <ActionRow
                key={action.id}
                action={action}
                number={n + 1}
                isInvalid={errors.actions?.includes(`[${n}]`) === true}
                onChange={(more) => put(actions.map((one) => (one.id === action.id ? { ...one, ...more } : one)))}
                onRemove={() => put(actions.filter(({ id }) => id !== action.id))}
                onUp={n === 0 ? null : () => swap(n)}
              />
            ))}
          </ol>
        )}
        {errors.actions === undefined ? null : <p className="field-error">{errors.actions}</p>}
        <div>
          <Button size="small" icon="plus" onClick={() => put([...actions, newAction(nextId)])}>
            Add an action
          </Button>
        </div>
      </div>
      {reason === null ? null : (
        <p className="field-help">{`A browser is used, because of this setting: ${reason}.`}</p>
      )}
    </fieldset>
  );
}

const DIRECTIONS = [
  { value: "down", name: "down" },
  { value: "up", name: "up" },
];

function ActionRow({
  action,
  number,
  isInvalid,
  onChange,
  onRemove,
  onUp,
}: {
  action: TypedAction;
  number: number;
  isInvalid: boolean;
  onChange: (more: Partial<TypedAction>) => void;
  onRemove: () => void;
  onUp: (() => void) | null;
}) {
  return (
    <li className="new-action">
      <Select
        bare
        label={`Kind of action ${number}`}
        choices={ACTIONS}
        value={action.kind}
        onChange={({ target }) => onChange({ kind: target.value as ActionKind })}
      />
      <div className="new-action-parts">
        <ActionParts action={action} number={number} isInvalid={isInvalid} onChange={onChange} />
      </div>
      <div className="new-action-buttons">
        <IconButton label={`Move action ${number} up`} icon="up" disabled={onUp === null} onClick={() => onUp?.()} />
        <IconButton label={`Remove action ${number}`} icon="trash" onClick={onRemove} />
      </div>
    </li>
  );
}

function ActionParts({
  action: { kind, selector, text, direction, amount, all, secret, kept },
  number,
  isInvalid,
  onChange,
}: {
  action: TypedAction;
  number: number;
  isInvalid: boolean;
  onChange: (more: Partial<TypedAction>) => void;
}) {
  const wrong = isInvalid ? { "aria-invalid": true } : {};
  const selectorField = (placeholder: string) => (
    <Input
      bare
      label={`Selector of action ${number}`}
      placeholder={placeholder}
      className="control mono"
      spellCheck={false}
      autoCapitalize="off"
      value={selector}
      {...wrong}
      onChange={({ target }) => onChange({ selector: target.value })}
    />
  );
  const words = (label: string, placeholder: string, type = "text") => (
    <Input
      bare
      label={`${label} of action ${number}`}
      placeholder={placeholder}
      type={type}
      min={0}
      spellCheck={false}
      autoComplete={type === "password" ? "new-password" : "off"}
      value={text}
      {...wrong}
      onChange={({ target }) => onChange({ text: target.value })}
    />
  );
  switch (kind) {
    case "click":
      return (
        <>
          {selectorField("#more")}
          <Checkbox label="All matches" checked={all} onChange={({ target }) => onChange({ all: target.checked })} />
        </>
      );
    case "wait_for":
      return selectorField(".results li");
    case "wait":
      return words("Milliseconds", "milliseconds", "number");
    case "write":
      return (
        <>
          {words(
            "Text",
            secret && kept ? "kept; type to replace it" : "typed into the focused field",
            secret ? "password" : "text",
          )}
          <Checkbox
            label="Secret"
            title="Stored encrypted, and never shown again"
            checked={secret}
            onChange={({ target }) => onChange({ secret: target.checked })}
          />
        </>
      );
    case "press":
      return words("Key", "Enter");
    case "scroll":
      return (
        <>
          <Select
            bare
            label={`Direction of action ${number}`}
            choices={DIRECTIONS}
            value={direction}
            onChange={({ target }) => onChange({ direction: target.value })}
          />
          <Input
            bare
            label={`Pixels of action ${number}`}
            placeholder="pixels"
            title="Default: the height of the window"
            type="number"
            min={0}
            value={amount}
            {...wrong}
            onChange={({ target }) => onChange({ amount: target.value })}
          />
          {selectorField("selector (default: the page)")}
        </>
      );
    case "scroll_to_end":
      return (
        <>
          <Input
            bare
            label={`Steps of action ${number}`}
            placeholder="at most 100 steps"
            title="Maximum number of scroll steps"
            type="number"
            min={1}
            value={amount}
            {...wrong}
            onChange={({ target }) => onChange({ amount: target.value })}
          />
          {words("Seconds", "at most 60 seconds", "number")}
          {selectorField("selector (default: the page)")}
        </>
      );
    case "screenshot":
      return <Checkbox label="Full page" checked={all} onChange={({ target }) => onChange({ all: target.checked })} />;
    case "scrape":
      return <span className="soft">Stores the HTML at this point.</span>;
  }
}
