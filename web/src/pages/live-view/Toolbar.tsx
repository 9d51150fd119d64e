import { type FormEvent, type RefObject, useState } from "react";
import { Button, IconButton } from "../../ui/Button.tsx";
import { Input } from "../../ui/Field.tsx";
import type { LiveViewHook } from "./useLiveView.ts";

/** Address, history and tabs of the page, and who controls it. */
export function Toolbar({
  view: { state, send },
  isZoomed,
  onZoom,
  first,
}: {
  view: LiveViewHook;
  isZoomed: boolean;
  onZoom: () => void;
  /** Gets the focus when the keyboard leaves the page. */
  first: RefObject<HTMLDivElement | null>;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const controls = state?.controls === true;
  const tabs = state?.tabs ?? [];
  const go = (where: string) => send({ type: "history", go: where });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (typed !== null && typed.trim() !== "") send({ type: "navigate", url: typed });
    setTyped(null);
  };
  return (
    <div className="live-toolbar" ref={first} tabIndex={-1} role="group" aria-label="Controls of the page">
      <div className="live-history">
        <IconButton label="Back" icon="left" disabled={!controls} onClick={() => go("back")} />
        <IconButton label="Forward" icon="right" disabled={!controls} onClick={() => go("forward")} />
        <IconButton label="Reload" icon="retry" disabled={!controls} onClick={() => go("reload")} />
        <IconButton
          label={isZoomed ? "Fit the page to this window" : "Show the page in its real size"}
          icon={isZoomed ? "fit" : "search"}
          aria-pressed={isZoomed}
          onClick={onZoom}
        />
      </div>
      <form className="live-address" onSubmit={onSubmit}>
        <Input
          label="Address of the page"
          bare
          className="control mono"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          disabled={!controls}
          value={typed ?? state?.url ?? ""}
          onChange={({ target }) => setTyped(target.value)}
          onBlur={() => setTyped(null)}
        />
      </form>
      {controls || state === null ? null : (
        <Button size="small" kind="primary" onClick={() => send({ type: "control", take: true })}>
          {state.controller === null ? "Take control" : `Take control from ${state.controller}`}
        </Button>
      )}
      {tabs.length > 1 ? (
        <div className="live-tabs">
          {tabs.map((tab) => (
            <span key={tab.id} className={`live-tab ${tab.isShown ? "live-tab-on" : ""}`}>
              <button
                type="button"
                aria-pressed={tab.isShown}
                disabled={!controls}
                onClick={() => send({ type: "tab", id: tab.id, close: false })}
              >
                {tab.title || tab.url || "New tab"}
              </button>
              <IconButton
                label={`Close ${tab.title || tab.url || "tab"}`}
                icon="close"
                size="small"
                disabled={!controls}
                onClick={() => send({ type: "tab", id: tab.id, close: true })}
              />
            </span>
          ))}
        </div>
      ) : null}
    </div>
  );
}
