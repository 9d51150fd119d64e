/**
 * The pictures of a page for its viewers. A viewer gets a frame only after it has drawn the last one, and then the newest:
 * a slow one sees fewer, and delays nobody. So one frame is kept, and at most one is on its way to each viewer.
 */
export interface Frame {
  jpeg: Buffer;
  /** Of the page's viewport, in CSS pixels. */
  width: number;
  height: number;
}

type SendFrame = (seq: number, frame: Frame) => void;

interface Viewer {
  send: SendFrame;
  /** The last frame that was sent. */
  sent: number;
  isDrawing: boolean;
}

export class FrameFeed<Key> {
  readonly #viewers = new Map<Key, Viewer>();
  #latest: Frame | null = null;
  #seq = 0;

  get isWatched(): boolean {
    return this.#viewers.size > 0;
  }

  add(key: Key, send: SendFrame): void {
    const viewer: Viewer = { send, sent: 0, isDrawing: false };
    this.#viewers.set(key, viewer);
    this.#next(viewer);
  }

  remove(key: Key): void {
    this.#viewers.delete(key);
  }

  offer(frame: Frame): void {
    this.#latest = frame;
    this.#seq += 1;
    for (const viewer of this.#viewers.values()) this.#next(viewer);
  }

  drawn(key: Key, seq: number): void {
    const viewer = this.#viewers.get(key);
    if (viewer === undefined || seq !== viewer.sent) return;
    viewer.isDrawing = false;
    this.#next(viewer);
  }

  #next(viewer: Viewer): void {
    if (viewer.isDrawing || this.#latest === null || viewer.sent === this.#seq) return;
    viewer.isDrawing = true;
    viewer.sent = this.#seq;
    viewer.send(this.#seq, this.#latest);
  }
}
