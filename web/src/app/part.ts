/** Lazily loaded chunks of the dashboard. */
import { type ComponentType, lazy } from "react";
import { call } from "../api/client.ts";
import { loadPart, noteLoadedAnew, wasLoadedAnew } from "../logic/lazy-part.ts";

export function part<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
  return lazy(() => loadPart(load, { answers: serverAnswers, loadAnew }));
}

const PATIENCE_MS = 10_000;

export const serverAnswers = () =>
  call("getLogin", undefined, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
    () => true,
    () => false,
  );

const KEY = "orb.loaded-anew";

function loadAnew(): boolean {
  // This file's name contains a hash of all content: another name is another build.
  const build = import.meta.url;
  if (wasLoadedAnew(sessionStorage.getItem(KEY), build, Date.now())) return false;
  sessionStorage.setItem(KEY, noteLoadedAnew(build, Date.now()));
  location.reload();
  return true;
}
