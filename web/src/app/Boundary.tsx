import { Component, type ReactNode, useEffect } from "react";
import { ServerAway } from "../logic/lazy-part.ts";
import { ErrorBox } from "../ui/States.tsx";
import { serverAnswers } from "./part.ts";

const LOOK_MS = 2000;
const loadAnew = () => location.reload();

/** A page that throws shows its error and leaves the rest in place. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error === null ? this.props.children : <Broken error={error} />;
  }
}

function Broken({ error }: { error: unknown }) {
  const isAway = error instanceof ServerAway;
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => void serverAnswers().then((there) => there && loadAnew()), LOOK_MS);
    return () => clearInterval(timer);
  }, [isAway]);
  return <ErrorBox title="This page could not be shown." error={error} onRetry={loadAnew} />;
}
