import { type FormEvent, useState } from "react";
import { Button, IconButton } from "../../../ui/Button.tsx";
import { Input, Segmented } from "../../../ui/Field.tsx";
import { ErrorBox } from "../../../ui/States.tsx";
import { MOST_PAGES } from "../logic/examples.ts";
import { lines } from "../logic/new-values.ts";
import { SessionChoice } from "../SessionChoice.tsx";
import type { NewState } from "../useNew.ts";
import { type FetchedPage, fetchPage } from "../usePreview.ts";
import type { LearnState } from "./useLearn.ts";

/** Fetches the pages that show example values. */
export function AddPages({ state: { form, change }, learn }: { state: NewState; learn: LearnState }) {
  const { pages, page, show, addPages, removePage, adding, setAdding } = learn;
  const [typed, setTyped] = useState(() => (pages.length === 0 ? (lines(form.url)[0] ?? "") : ""));
  const [error, setError] = useState<unknown>(null);
  const isFull = pages.length >= MOST_PAGES;
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (adding) return;
    const urls = typed.split(/\s+/).filter((url) => url !== "");
    if (urls.length === 0) return setError(new Error("Paste the URL of a page above."));
    if (urls.length + pages.length > MOST_PAGES)
      return setError(new Error(`Rules are learned from at most ${MOST_PAGES} pages: remove one first.`));
    setAdding(true);
    setError(null);
    const fetched: FetchedPage[] = [];
    try {
      for (const url of urls) fetched.push(await fetchPage(url, form));
      setTyped("");
    } catch (failed) {
      // Those before it are there; the rest can be tried again.
      setTyped(urls.slice(fetched.length).join(" "));
      setError(failed);
    } finally {
      setAdding(false);
      if (fetched.length > 0) addPages(fetched);
      if (fetched[0] !== undefined && lines(form.url).length === 0) change({ url: fetched[0].asked ?? fetched[0].url });
    }
  };
  const number = page === null ? 0 : pages.indexOf(page) + 1;
  return (
    <>
      {isFull ? null : (
        <form className="fetch-bar" onSubmit={(event) => void add(event)}>
          <Input
            bare
            label="Page with example values"
            className="control mono"
            placeholder={pages.length === 0 ? "https://example.com/product/1" : "another page of the same kind"}
            inputMode="url"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
          <div className="fetch-session">
            <SessionChoice bare urls={[typed]} value={form.session} onChange={(session) => change({ session })} />
          </div>
          <Button
            type="submit"
            kind={pages.length === 0 ? "primary" : "plain"}
            needs="previewExtraction"
            busy={adding}
            icon="download"
          >
            {pages.length === 0 ? "Fetch page" : "Add page"}
          </Button>
        </form>
      )}
      {error === null ? null : <ErrorBox error={error} />}
      {page === null ? null : (
        <div className="row learn-pages">
          <Segmented
            label="Shown page"
            value={String(page.key)}
            choices={pages.map(({ key }, n) => ({ value: String(key), name: `Page ${n + 1}` }))}
            onChange={(key) => show(Number(key))}
          />
          <IconButton label={`Remove page ${number}`} icon="trash" onClick={() => removePage(page.key)} />
          <span className="soft" role="status">
            {pages.length === 1
              ? "Add a second page of the same kind for more reliable rules."
              : `${pages.length} pages`}
          </span>
        </div>
      )}
    </>
  );
}
