import { type ReactNode, useEffect } from "react";
import { Link } from "wouter";
import { Icon } from "./Icon.tsx";
import "./page-header.css";

/** The header of every page: its one `h1`, its actions, and the document title. */
export function PageHeader({
  title,
  documentTitle,
  note,
  back,
  badge,
  actions,
}: {
  title: ReactNode;
  /** For a `title` that is not plain text. */
  documentTitle?: string;
  note?: ReactNode;
  back?: { href: string; name: string };
  badge?: ReactNode;
  actions?: ReactNode;
}) {
  const name = documentTitle ?? (typeof title === "string" ? title : "");
  useEffect(() => {
    document.title = name === "" ? "Orbweaver" : `${name} · Orbweaver`;
  }, [name]);
  return (
    <header className="page-header">
      {back === undefined ? null : (
        <Link href={back.href} className="page-back">
          <Icon name="left" size={14} />
          {back.name}
        </Link>
      )}
      <div className="page-header-line">
        <div className="page-header-title">
          <h1>{title}</h1>
          {badge}
        </div>
        {actions === undefined ? null : <div className="row">{actions}</div>}
      </div>
      {note === undefined ? null : <p className="page-header-note">{note}</p>}
    </header>
  );
}
