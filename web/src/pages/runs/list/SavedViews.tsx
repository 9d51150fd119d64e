import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import { isNarrowed, type RunFilter, writeFilter } from "../logic/run-filter.ts";
import {
  addView,
  BUILT_IN,
  currentView,
  readViews,
  removeView,
  type SavedView,
  writeViews,
} from "../logic/saved-views.ts";
import { Button, IconButton } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/overlay/Dialog.tsx";
import { Input } from "../../../ui/Field.tsx";

const KEY = "orb.views.runs";

/** Named filters: built-in ones, and those saved in this browser. */
export function SavedViews({ filter }: { filter: RunFilter }) {
  const [views, setViews] = useState(() => readViews(localStorage.getItem(KEY)));
  const [naming, setNaming] = useState(false);
  const [name, setName] = useState("");
  const keep = (next: SavedView[]) => {
    setViews(next);
    localStorage.setItem(KEY, writeViews(next));
  };
  const all = [...BUILT_IN, ...views];
  const current = currentView(all, filter);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    keep(addView(views, name, filter));
    setNaming(false);
    setName("");
  };
  return (
    <nav className="run-views" aria-label="Views">
      {all.map((view) => {
        const search = writeFilter(view.filter);
        const isSaved = views.includes(view);
        return (
          <span key={`${isSaved} ${view.name}`} className={view === current ? "run-view run-view-here" : "run-view"}>
            <Link
              href={search === "" ? "/runs" : `/runs?${search}`}
              aria-current={view === current ? "true" : undefined}
            >
              {view.name}
            </Link>
            {isSaved ? (
              <IconButton
                label={`Remove view ${view.name}`}
                icon="close"
                size="small"
                onClick={() => keep(removeView(views, view.name))}
              />
            ) : null}
          </span>
        );
      })}
      {current === null && isNarrowed(filter) ? (
        <Button kind="quiet" size="small" icon="plus" onClick={() => setNaming(true)}>
          Save view
        </Button>
      ) : null}
      <Dialog
        open={naming}
        onClose={() => setNaming(false)}
        title="Save this view"
        actions={
          <>
            <Button onClick={() => setNaming(false)}>Cancel</Button>
            <Button kind="primary" type="submit" form="save-view" disabled={name.trim() === ""}>
              Save view
            </Button>
          </>
        }
      >
        <form id="save-view" onSubmit={onSubmit}>
          <Input
            label="Name"
            help="Stored in this browser and shown above the list."
            value={name}
            maxLength={60}
            onChange={({ target }) => setName(target.value)}
          />
        </form>
      </Dialog>
    </nav>
  );
}
