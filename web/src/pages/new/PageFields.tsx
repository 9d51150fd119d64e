/** Fields of crawls and single pages. */
import { useState } from "react";
import { CRAWL_DEFAULTS } from "./logic/new-form.ts";
import { moreSet } from "./logic/new-problems.ts";
import { lines } from "./logic/new-values.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Checkbox, Input, Select, Textarea } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { BrowserFields } from "./BrowserFields.tsx";
import { OtherSettings } from "./OtherSettings.tsx";
import { SessionChoice } from "./SessionChoice.tsx";
import { DocumentFields } from "./DocumentFields.tsx";
import { FillDemo } from "./FillDemo.tsx";
import type { NewState } from "./useNew.ts";

const STRATEGIES = [
  { value: "auto", name: "Automatic" },
  { value: "http", name: "Plain requests" },
  { value: "browser", name: "Browser" },
];

type Props = { state: NewState; job: string | null; onPlayground: () => void };

export function PageFields({ state, job, onPlayground }: Props) {
  const { form, change, errors, moreOpen, setMoreOpen } = state;
  const isCrawl = form.kind === "crawl";
  const set = moreSet(form);
  // A clone shows the name of its run before it is sent. A job has a name field anyway.
  const [isNamed] = useState(job === null && form.name !== "");
  return (
    <>
      <Card>
        <div className="stack">
          {isCrawl ? (
            <>
              <Textarea
                label="URL"
                help="Start URLs, one per line."
                error={errors.url}
                value={form.url}
                onChange={({ target }) => change({ url: target.value })}
                rows={Math.min(8, Math.max(1, form.url.split("\n").length))}
                className="control control-area mono new-url"
                placeholder="https://example.com/"
                spellCheck={false}
              />
              {form.url === "" ? <FillDemo change={change} /> : null}
              <div className="new-grid">
                <Input
                  label="Maximum depth"
                  help="Maximum number of links away from the start."
                  type="number"
                  min={0}
                  error={errors.depth}
                  value={form.depth}
                  placeholder={String(CRAWL_DEFAULTS.max_depth)}
                  onChange={({ target }) => change({ depth: target.value })}
                />
                <Input
                  label="Maximum pages"
                  help="Maximum number of pages."
                  type="number"
                  min={1}
                  error={errors.pages}
                  value={form.pages}
                  placeholder={String(CRAWL_DEFAULTS.max_pages)}
                  onChange={({ target }) => change({ pages: target.value })}
                />
              </div>
            </>
          ) : (
            <>
              <Input
                label="URL"
                help="The page to read."
                error={errors.url}
                value={form.url}
                onChange={({ target }) => change({ url: target.value })}
                className="control mono"
                inputMode="url"
                placeholder="https://example.com/"
                spellCheck={false}
              />
              {isNamed ? (
                <Input
                  label="Name of this run"
                  help="Default: the URL."
                  error={errors.name}
                  value={form.name}
                  maxLength={200}
                  onChange={({ target }) => change({ name: target.value })}
                />
              ) : null}
            </>
          )}
        </div>
      </Card>
      <Card
        title="Data to extract"
        actions={<Button onClick={onPlayground}>{form.rules.length === 0 ? "Choose fields" : "Edit fields"}</Button>}
      >
        <Reading state={state} />
      </Card>
      <Card>
        <button type="button" className="new-more" aria-expanded={moreOpen} onClick={() => setMoreOpen(!moreOpen)}>
          <Icon name={moreOpen ? "chevron" : "right"} />
          More options
          {set === 0 ? null : <span className="tab-count num">{set} set</span>}
        </button>
        {moreOpen ? isCrawl ? <MoreOfCrawl state={state} /> : <MoreOfPage state={state} /> : null}
      </Card>
    </>
  );
}

/** A summary: rules are edited in the playground. */
function Reading({ state }: { state: NewState }) {
  const { form, change, errors } = state;
  const names = form.rules.map(({ name }) => name).join(", ");
  const wrong = errors.rules ?? errors.items ?? errors.schema;
  return (
    <div className="stack new-tight">
      {form.rules.length === 0 ? (
        <p className="soft">
          {form.asDocument
            ? "Title, description, author, date and the full page. Choose fields to extract something else."
            : "Title, description, author, date and article text. Choose fields to extract something else."}
        </p>
      ) : (
        <p className="wrap">
          {form.rules.length === 1 ? "1 field" : `${form.rules.length} fields`}
          {form.items.text === "" ? "" : ", for each list item"}: <span className="mono">{names}</span>
        </p>
      )}
      <DocumentFields state={state} />
      {form.kind === "crawl" && (form.rules.length > 0 || form.asDocument) ? (
        <Checkbox
          label="Also extract the article text"
          checked={form.article}
          onChange={({ target }) => change({ article: target.checked })}
        />
      ) : null}
      {wrong === undefined ? null : <p className="field-error">{wrong}</p>}
    </div>
  );
}

/** They may contain secrets: sent and sealed, never stored in a URL or a saved view. */
function Headers({ state: { form, change, errors } }: { state: NewState }) {
  return (
    <Textarea
      label="Headers"
      help="Name: value, one per line. Sent to this site only."
      error={errors.headers}
      rows={2}
      value={form.headers}
      placeholder="Accept-Language: en"
      spellCheck={false}
      autoComplete="off"
      onChange={({ target }) => change({ headers: target.value })}
    />
  );
}

function Ways({ state: { form, change, errors } }: { state: NewState }) {
  return (
    <>
      <Select
        label="Fetch with"
        help="Automatic uses a browser only when needed."
        choices={
          form.strategy === "api_replay" ? [...STRATEGIES, { value: "api_replay", name: "API replay" }] : STRATEGIES
        }
        error={errors.strategy}
        value={form.strategy}
        onChange={({ target }) => change({ strategy: target.value })}
      />
      <Input
        label="Proxy"
        help="“pool” or the URL of a proxy. Empty: no proxy."
        error={errors.proxy}
        value={form.proxy}
        placeholder="pool"
        spellCheck={false}
        onChange={({ target }) => change({ proxy: target.value })}
      />
      <SessionChoice
        urls={lines(form.url)}
        value={form.session}
        error={errors.session}
        onChange={(session) => change({ session })}
      />
    </>
  );
}

function MoreOfCrawl({ state }: { state: NewState }) {
  const { form, change, errors } = state;
  return (
    <div className="stack new-more-body">
      <div className="new-grid">
        <Input
          label="Concurrent pages"
          help="The limits of each site still apply."
          type="number"
          min={1}
          error={errors.concurrency}
          value={form.concurrency}
          placeholder={String(CRAWL_DEFAULTS.max_concurrent_articles)}
          onChange={({ target }) => change({ concurrency: target.value })}
        />
        <Input
          label="Time limit in minutes"
          help="The crawl then ends with the pages it has."
          type="number"
          min={0}
          step="any"
          error={errors.minutes}
          value={form.minutes}
          placeholder={String(CRAWL_DEFAULTS.timeout_minutes)}
          onChange={({ target }) => change({ minutes: target.value })}
        />
        <Textarea
          label="Include"
          help="Follow and read only matching pages. One pattern per line."
          error={errors.include}
          rows={2}
          value={form.include}
          placeholder="/blog/**"
          spellCheck={false}
          onChange={({ target }) => change({ include: target.value })}
        />
        <Textarea
          label="Exclude"
          help="Never follow or read matching pages."
          error={errors.exclude}
          rows={2}
          value={form.exclude}
          placeholder="/private/**"
          spellCheck={false}
          onChange={({ target }) => change({ exclude: target.value })}
        />
        <Textarea
          label="Follow"
          help="Pages to follow without storing records, such as list pages. If Include and Read are empty, this works like Include."
          error={errors.follow}
          rows={2}
          value={form.follow}
          placeholder="/page/**"
          spellCheck={false}
          onChange={({ target }) => change({ follow: target.value })}
        />
        <Textarea
          label="Read"
          help="Store records of matching pages only. If Include and Follow are empty, all pages are followed."
          error={errors.read}
          rows={2}
          value={form.read}
          placeholder="/2026/**"
          spellCheck={false}
          onChange={({ target }) => change({ read: target.value })}
        />
        <Ways state={state} />
        <Input
          label="Attempts per page"
          help="Maximum attempts per page, including the first."
          type="number"
          min={1}
          error={errors.tries}
          value={form.tries}
          placeholder={String(CRAWL_DEFAULTS.max_attempts)}
          onChange={({ target }) => change({ tries: target.value })}
        />
        <OtherSettings state={state} widgets={["text", "choice", "number"]} />
        <Headers state={state} />
      </div>
      <Checkbox
        label="Also start from the sitemap"
        help="Adds the pages listed in the site’s sitemaps."
        checked={form.sitemap}
        onChange={({ target }) => change({ sitemap: target.checked })}
      />
      <Checkbox
        label="Only new and changed pages"
        help={
          form.onlyChanged && !state.isJob
            ? "Save it as a job to use this: a crawl that runs once has no earlier run to compare with."
            : "For saved jobs. A run returns only pages that are new or changed since the previous run."
        }
        checked={form.onlyChanged}
        onChange={({ target }) => change({ onlyChanged: target.checked })}
      />
      <OtherSettings state={state} widgets={["switch"]} />
      <Checkbox
        label="Follow links to other sites"
        checked={form.anySite}
        onChange={({ target }) => change({ anySite: target.checked })}
      />
      <Checkbox
        label="Ignore robots.txt"
        help="Only where the site’s owner agrees."
        checked={form.ignoreRobots}
        onChange={({ target }) => change({ ignoreRobots: target.checked })}
      />
      <BrowserFields state={state} />
    </div>
  );
}

function MoreOfPage({ state }: { state: NewState }) {
  const { form, change, errors } = state;
  return (
    <div className="stack new-more-body">
      <div className="new-grid">
        <Ways state={state} />
        <Input
          label="Attempts"
          help="Maximum attempts, including the first. Default: 1, or the server’s default for a saved job."
          type="number"
          min={1}
          error={errors.tries}
          value={form.tries}
          placeholder="1"
          onChange={({ target }) => change({ tries: target.value })}
        />
        <Input
          label="Time limit in seconds"
          help="Maximum time for the page."
          type="number"
          min={0}
          step="any"
          error={errors.timeout}
          value={form.timeout}
          onChange={({ target }) => change({ timeout: target.value })}
        />
        <Headers state={state} />
        <Textarea
          label="Cookies"
          help="name=value, one per line. Sent to this site only."
          error={errors.cookies}
          rows={2}
          value={form.cookies}
          spellCheck={false}
          onChange={({ target }) => change({ cookies: target.value })}
        />
      </div>
      <Checkbox
        label="Respect robots.txt"
        help="The page is not fetched if robots.txt disallows it."
        checked={form.respectRobots}
        onChange={({ target }) => change({ respectRobots: target.checked })}
      />
      <BrowserFields state={state} />
    </div>
  );
}
