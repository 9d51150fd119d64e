import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { LiveConnection } from "./connection.ts";
import type { LiveFrame, LiveState } from "./logic/live-messages.ts";

export interface LiveViewHook {
  canvas: RefObject<HTMLCanvasElement | null>;
  /** Size of the page's viewport; null: no picture yet. */
  size: RefObject<{ width: number; height: number } | null>;
  state: LiveState | null;
  notices: readonly { id: number; text: string }[];
  dismiss(id: number): void;
  /** Why there is no connection; null: there is. */
  waiting: string | null;
  ended: { message: string; reason: string } | null;
  hasPicture: boolean;
  send(message: object): void;
}

const MOST_NOTICES = 4;

/** Draws the frames of a live view on a canvas, and nothing else of the page. */
export function useLiveView(id: string): LiveViewHook {
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const size = useRef<{ width: number; height: number } | null>(null);
  const connection = useRef<LiveConnection | null>(null);
  const [state, setState] = useState<LiveState | null>(null);
  const [notices, setNotices] = useState<{ id: number; text: string }[]>([]);
  const [waiting, setWaiting] = useState<string | null>("Connecting …");
  const [ended, setEnded] = useState<LiveViewHook["ended"]>(null);
  const [hasPicture, setHasPicture] = useState(false);
  useEffect(() => {
    let noticed = 0;
    const opened = new LiveConnection(id, {
      frame: (frame) => {
        void draw(canvas.current, frame).finally(() => {
          size.current = { width: frame.width, height: frame.height };
          setHasPicture(true);
          opened.send({ type: "ack", seq: frame.seq });
        });
      },
      state: setState,
      notice: (text) => setNotices((old) => [...old.slice(1 - MOST_NOTICES), { id: (noticed += 1), text }]),
      waiting: setWaiting,
      ended: (message, reason) => setEnded({ message, reason }),
    });
    connection.current = opened;
    return () => opened.close();
  }, [id]);
  const send = useCallback((message: object) => connection.current?.send(message), []);
  const dismiss = useCallback((which: number) => setNotices((old) => old.filter((notice) => notice.id !== which)), []);
  return { canvas, size, state, notices, dismiss, waiting, ended, hasPicture, send };
}

async function draw(canvas: HTMLCanvasElement | null, { jpeg, seq }: LiveFrame): Promise<void> {
  if (canvas === null) return;
  const picture = await createImageBitmap(new Blob([jpeg], { type: "image/jpeg" }));
  if (canvas.width !== picture.width || canvas.height !== picture.height) {
    canvas.width = picture.width;
    canvas.height = picture.height;
  }
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
  canvas.dataset["frame"] = String(seq);
  picture.close();
}
