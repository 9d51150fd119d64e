import { Fragment } from "react";
import type { Shortcut } from "../../logic/shortcuts.ts";
import "./key-hints.css";

/** Keys with what they do. */
export function KeyHints({ title, shortcuts }: { title: string; shortcuts: readonly Shortcut[] }) {
  return (
    <section className="key-hints">
      <h3>{title}</h3>
      <dl>
        {shortcuts.map(({ keys, about }) => (
          <div key={keys}>
            <dt>{about}</dt>
            <dd>
              {keys.split(" ").map((key, index) => (
                <Fragment key={key}>
                  {index === 0 ? null : " "}
                  <kbd>{key}</kbd>
                </Fragment>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
