import { count } from "../../logic/format.ts";
import { Button } from "../../ui/Button.tsx";
import type { NewState } from "./useNew.ts";

/** Another user has saved the job meanwhile: nothing was overwritten, and the input here is still there. */
export function Conflict({ conflict }: { conflict: NonNullable<NewState["conflict"]> }) {
  const { changes, busy } = conflict;
  const contested = changes.filter(({ isContested }) => isContested);
  return (
    <div className="new-conflict" role="alert">
      <strong>This job was changed by someone else while you were editing. Nothing was saved.</strong>
      {changes.length === 0 ? (
        <p>Their changes are in headers, cookies or secret texts, which are not shown.</p>
      ) : (
        <>
          <p>
            They changed {count(changes.length, "field")}
            {contested.length === 0 ? "" : `, ${contested.length} of which you changed, too`}:
          </p>
          <ul>
            {changes.map(({ key, name, before, after, isContested }) => (
              <li key={key} className="wrap">
                <b>{name}</b>: <del>{before}</del> → <ins>{after}</ins>
                {isContested ? <span className="new-contested"> changed by you, too</span> : null}
              </li>
            ))}
          </ul>
        </>
      )}
      <div className="row">
        <Button kind="primary" size="small" disabled={busy} onClick={conflict.merge}>
          Keep both changes
        </Button>
        <Button size="small" disabled={busy} onClick={conflict.overwrite}>
          Overwrite theirs
        </Button>
        <Button size="small" kind="quiet" disabled={busy} onClick={conflict.takeTheirs}>
          Discard mine
        </Button>
      </div>
      <p className="soft">
        “Keep both changes” applies yours on top of theirs in this form
        {contested.length === 0 ? "" : "; where both changed a field, yours stays"}. Then save again.
      </p>
    </div>
  );
}
