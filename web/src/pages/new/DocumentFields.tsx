/** Full page content, beside the fields or instead of them. */
import { FORMATS, withFormat } from "./logic/page-options.ts";
import { Checkbox, Textarea } from "../../ui/Field.tsx";
import type { NewState } from "./useNew.ts";

export function DocumentFields({ state: { form, change, errors } }: { state: NewState }) {
  return (
    <>
      <Checkbox
        label="Full page content"
        help="Stored in each record as “document”, as Markdown, HTML, links or screenshots."
        checked={form.asDocument}
        onChange={({ target }) => change({ asDocument: target.checked })}
      />
      {form.asDocument ? (
        <div className="new-inset">
          <fieldset className="new-formats">
            <legend className="field-label">Formats</legend>
            {FORMATS.map(({ value, name }) => (
              <Checkbox
                key={value}
                label={name}
                checked={form.formats.includes(value)}
                onChange={({ target }) => change({ formats: withFormat(form.formats, value, target.checked) })}
              />
            ))}
          </fieldset>
          {errors.formats === undefined ? null : <p className="field-error">{errors.formats}</p>}
          <Checkbox
            label="Include navigation and ads"
            help="Off: they are removed from Markdown and HTML."
            checked={form.wholePage}
            onChange={({ target }) => change({ wholePage: target.checked })}
          />
          <div className="new-grid">
            <Textarea
              label="Include only elements"
              help="CSS selectors, one per line."
              error={errors.includeTags}
              rows={2}
              value={form.includeTags}
              placeholder="main"
              spellCheck={false}
              className="control control-area mono"
              onChange={({ target }) => change({ includeTags: target.value })}
            />
            <Textarea
              label="Exclude elements"
              help="CSS selectors, one per line."
              error={errors.excludeTags}
              rows={2}
              value={form.excludeTags}
              placeholder=".advert"
              spellCheck={false}
              className="control control-area mono"
              onChange={({ target }) => change({ excludeTags: target.value })}
            />
          </div>
        </div>
      ) : null}
    </>
  );
}
