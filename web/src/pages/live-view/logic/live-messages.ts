/** What the server sends over the WebSocket of a live view. */
export interface LiveTab {
  id: number;
  title: string;
  url: string;
  isShown: boolean;
}

export interface LiveDialog {
  id: number;
  kind: "alert" | "confirm" | "prompt" | "beforeunload";
  message: string;
  value: string;
}

export interface LiveState {
  type: "state";
  url: string;
  tabs: LiveTab[];
  dialog: LiveDialog | null;
  viewers: number;
  controller: string | null;
  controls: boolean;
  recorded: number;
  ends_at: string;
  idle_ends_at: string;
}

export type ServerMessage =
  | LiveState
  | { type: "notice"; message: string }
  | { type: "closed"; reason: string; message: string };

export interface LiveFrame {
  seq: number;
  /** Of the page's viewport, in CSS pixels. */
  width: number;
  height: number;
  jpeg: Uint8Array<ArrayBuffer>;
}

const HEADER_BYTES = 8;

/** Null: not a picture. */
export function readFrame(data: ArrayBuffer): LiveFrame | null {
  if (data.byteLength <= HEADER_BYTES) return null;
  const header = new DataView(data, 0, HEADER_BYTES);
  return {
    seq: header.getUint32(0),
    width: header.getUint16(4),
    height: header.getUint16(6),
    jpeg: new Uint8Array(data, HEADER_BYTES),
  };
}

/** The answers that a page's dialog takes; an alert has only one. */
export function answersOf({ kind }: LiveDialog): { accept: string; dismiss: string | null } {
  if (kind === "alert") return { accept: "OK", dismiss: null };
  return kind === "beforeunload" ? { accept: "Leave page", dismiss: "Stay" } : { accept: "OK", dismiss: "Cancel" };
}

/** Remaining time for a reader: minutes, then seconds. */
export function timeLeft(until: string, now: number): string {
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / 1000));
  return seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${seconds} s`;
}
