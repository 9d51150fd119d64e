/** Crawl settings without a dedicated field, each by its type. */
import { Checkbox, Input, Select } from "../../ui/Field.tsx";
import { OTHER_SETTINGS, type OtherSetting, withSetting } from "./logic/crawl-settings.ts";
import type { NewState } from "./useNew.ts";

type Props = { state: NewState; widgets: readonly OtherSetting["widget"][] };

export function OtherSettings({ state, widgets }: Props) {
  const shown = OTHER_SETTINGS.filter(({ widget }) => widgets.includes(widget));
  return shown.map((setting) => <OtherField key={setting.name} state={state} setting={setting} />);
}

function OtherField({ state: { form, change, errors }, setting }: { state: NewState; setting: OtherSetting }) {
  const { name, label, help, widget, choices, usual } = setting;
  const value = form.kept[name] ?? usual;
  const set = (next: unknown) => change({ kept: withSetting(form.kept, setting, next) });
  const about = { label, ...(help === undefined ? {} : { help }) };
  const error = errors[`kept.${name}`];
  if (widget === "switch")
    return <Checkbox {...about} checked={value === true} onChange={({ target }) => set(target.checked)} />;
  if (widget === "choice")
    return (
      <Select
        {...about}
        value={String(value)}
        error={error}
        choices={choices}
        onChange={({ target }) => set(target.value)}
      />
    );
  if (widget === "text")
    return <Input {...about} error={error} value={String(value)} onChange={({ target }) => set(target.value)} />;
  return (
    <Input
      {...about}
      error={error}
      type="number"
      min={0}
      step="any"
      value={form.kept[name] === undefined ? "" : String(form.kept[name])}
      placeholder={String(usual)}
      onChange={({ target }) => set(target.value)}
    />
  );
}
