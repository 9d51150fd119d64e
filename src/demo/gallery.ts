/** The demo gallery: good images, copies, smaller copies, and some that a dataset should not contain. */
import { type Motif, paint, paintBlank } from "./pictures.ts";

interface GalleryPicture {
  motif: Motif;
  /** `/gallery/img/hills/03.png` */
  path: string;
  caption: string;
  width: number;
  height: number;
  bytes(): Buffer;
}

/** The expected result of a dataset with images of at least `smallest` pixels per side. */
export const GALLERY_TRUTH = {
  smallest: 64,
  pictures: 36,
  refused: { width_too_small: 3, truncated: 1, blank: 2 },
  exactCopies: 3,
  smallerCopies: 3,
  kept: 24,
} as const;

export const ROOMS: readonly { motif: Motif; name: string; about: string }[] = [
  { motif: "hills", name: "Hills", about: "Every hill has another one behind it." },
  { motif: "waves", name: "Waves", about: "What three stones do to a pond." },
  { motif: "mosaics", name: "Mosaics", about: "Tiles from a floor that was never laid." },
];

const STUDIES = 8;
const [WIDTH, HEIGHT] = [320, 240];

export const PICTURES: readonly GalleryPicture[] = ROOMS.flatMap(({ motif }, room) => {
  const seedOf = (nth: number) => 1000 * (room + 1) + 37 * nth;
  let number = 0;
  const picture = (caption: string, width: number, height: number, bytes: () => Buffer): GalleryPicture => {
    number += 1;
    return {
      motif,
      path: `/gallery/img/${motif}/${String(number).padStart(2, "0")}.png`,
      caption,
      width,
      height,
      bytes,
    };
  };
  const original = (nth: number) => paint(motif, seedOf(nth), WIDTH, HEIGHT);
  const good = Array.from({ length: STUDIES }, (_, nth) =>
    picture(`${motif}, study ${nth + 1}`, WIDTH, HEIGHT, () => original(nth)),
  );
  return [
    ...good,
    picture("the second study, hung twice", WIDTH, HEIGHT, () => original(1)),
    picture("the fifth study, as a postcard", WIDTH / 2, HEIGHT / 2, () =>
      paint(motif, seedOf(4), WIDTH / 2, HEIGHT / 2),
    ),
    picture("a stamp", 40, 30, () => paint(motif, seedOf(50), 40, 30)),
    motif === "waves"
      ? picture("half delivered", WIDTH, HEIGHT, () => cut(paint(motif, seedOf(60), WIDTH, HEIGHT)))
      : picture("an empty canvas", WIDTH, HEIGHT, () => paintBlank(WIDTH, HEIGHT)),
  ];
});

/** As after an interrupted transfer. */
function cut(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length * 0.6));
}
