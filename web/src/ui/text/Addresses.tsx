import { useState } from "react";
import { fullNumber } from "../../logic/format.ts";
import { safeHref } from "../../logic/nested.ts";
import { Button } from "../Button.tsx";
import "./addresses.css";

/** A third-party URL: opens in a new tab, and only if it is http(s). */
export function Address({ url }: { url: string }) {
  const href = safeHref(url);
  if (href === null) return <span className="wrap">{url}</span>;
  return (
    <a className="link wrap" href={href} target="_blank" rel="noreferrer noopener">
      {url}
    </a>
  );
}

const AT_FIRST = 100;

export function Addresses({ urls, label }: { urls: readonly string[]; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? urls : urls.slice(0, AT_FIRST);
  return (
    <>
      <ol className="addresses" aria-label={label}>
        {shown.map((url, n) => (
          // URLs may repeat; the index is the key.
          <li key={n}>
            <Address url={url} />
          </li>
        ))}
      </ol>
      {shown.length < urls.length ? (
        <div>
          <Button size="small" onClick={() => setWhole(true)}>
            {`Show all ${fullNumber(urls.length)}`}
          </Button>
        </div>
      ) : null}
    </>
  );
}
