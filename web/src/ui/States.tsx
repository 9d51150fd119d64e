/** Placeholders of a page: empty, loading, or failed. */
import type { ReactNode } from "react";
import { Problem } from "../api/client.ts";
import { capital } from "../logic/format.ts";
import { Button } from "./Button.tsx";
import { Icon, type IconName } from "./Icon.tsx";
import "./states.css";

/** Explains what would be here, and how to get it. */
export function EmptyState({
  icon,
  title,
  children,
  actions,
}: {
  icon?: IconName;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="empty">
      {icon === undefined ? null : (
        <span className="empty-icon">
          <Icon name={icon} size={20} />
        </span>
      )}
      <h2>{title}</h2>
      {children === undefined ? null : <div className="empty-text prose">{children}</div>}
      {actions === undefined ? null : <div className="row">{actions}</div>}
    </div>
  );
}

/** Grey bars in place of text. */
export function Skeleton({ lines = 3, height = 14 }: { lines?: number; height?: number }) {
  return (
    <div className="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} style={{ height, width: `${100 - ((index * 29) % 45)}%` }} />
      ))}
    </div>
  );
}

/** A whole page that is loading. */
export function PageSkeleton() {
  return (
    <div className="stack" role="status">
      <span className="spoken">Loading</span>
      <Skeleton lines={1} height={26} />
      <Skeleton lines={1} height={120} />
      <Skeleton lines={6} height={18} />
    </div>
  );
}

/** Server messages have commands between backticks. */
function withCode(text: string) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code key={`${index} ${part}`}>{part}</code> : part));
}

/** What went wrong, what to do about it, and a retry button. */
export function ErrorBox({ error, onRetry, title }: { error: unknown; onRetry?: () => void; title?: string }) {
  const problem = error instanceof Problem ? error : null;
  const message = capital(error instanceof Error ? error.message : String(error));
  return (
    <div className="error-box" role="alert">
      <Icon name="warning" size={18} />
      <div className="error-words">
        <p className="error-title wrap">{title ?? message}</p>
        {title === undefined ? null : <p className="wrap">{message}</p>}
        {problem?.hint === null || problem?.hint === undefined ? null : (
          <p className="soft wrap">{withCode(problem.hint)}</p>
        )}
        {problem === null || problem.fields.length === 0 ? null : (
          <ul className="error-fields">
            {problem.fields.map(({ path, message: why }) => (
              <li key={`${path} ${why}`}>
                <code>{path}</code> {why}
              </li>
            ))}
          </ul>
        )}
      </div>
      {onRetry === undefined ? null : (
        <Button size="small" icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
