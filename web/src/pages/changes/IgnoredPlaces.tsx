import type { Operations } from "../../api/types.ts";
import { count } from "../../logic/format.ts";
import { Button } from "../../ui/Button.tsx";

type Ignored = NonNullable<Operations["getJobChange"]["answer"]["diff"]>["ignored"];

export interface Watching {
  /** Places that count from the next run on. */
  watched: readonly string[];
  onWatch: (place: string) => void;
}

const KINDS: Readonly<Record<Ignored[number]["kind"], string>> = {
  built_in: "Date, counter or id",
  words: "Words that change on their own",
  place: "Changes on its own",
  shuffled: "Another order",
  this_run: "Differed between fetches of this run",
  unsettled: "A later fetch was as before",
};

/** Differences that were left out, each with its reason; those with a name can be counted from the next run on. */
export function IgnoredPlaces({ ignored, watched, onWatch }: { ignored: Ignored } & Watching) {
  if (ignored.length === 0) return null;
  return (
    <details className="ignored">
      <summary>{count(ignored.length, "place")} ignored as noise</summary>
      <ul>
        {ignored.map(({ kind, place, before, after }, index) => (
          <li key={index}>
            <Head kind={kind} place={place} watched={watched} onWatch={onWatch} />
            <div className="ignored-texts soft">
              {shown(before)} → {shown(after)}
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Head({ kind, place, watched, onWatch }: Pick<Ignored[number], "kind" | "place"> & Watching) {
  return (
    <div className="ignored-head">
      <strong>{KINDS[kind]}</strong>
      {place === null ? null : <code>{place}</code>}
      {place === null ? null : watched.includes(place) ? (
        <span className="soft">Counts from the next run on</span>
      ) : (
        <Button size="small" aria-label={`Count it: changes of ${place}`} onClick={() => onWatch(place)}>
          Count it
        </Button>
      )}
    </div>
  );
}

type LeftOut = Operations["listIgnoredPlaces"]["answer"][number];

/** The places of one page that are left out at present. */
export function LeftOutPlaces({ page: { url, places }, watched, onWatch }: { page: LeftOut } & Watching) {
  return (
    <details className="ignored">
      <summary>
        {count(places.length, "place")} of {url}
      </summary>
      <ul>
        {places.map(({ kind, place, texts }) => (
          <li key={`${kind} ${place}`}>
            <Head kind={kind} place={place} watched={watched} onWatch={onWatch} />
            <div className="ignored-texts soft">{shown(texts)}</div>
          </li>
        ))}
      </ul>
    </details>
  );
}

const shown = (lines: readonly string[]) =>
  lines.length === 0 ? "nothing" : lines.map((line) => line.trim()).join(" · ");
