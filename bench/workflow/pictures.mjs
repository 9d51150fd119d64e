/** The benchmark's step kind: items as `validate` returns them, for images that do not exist. */
const HEX = 16;
let state = 1;
// xorshift: the same images each time.
const number = () => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
};
const digits = (count) => Array.from({ length: count / 8 }, () => number().toString(16).padStart(8, "0")).join("");

function* pictures(count) {
  const known = [];
  for (let index = 0; index < count; index += 1) {
    // A tenth are near-duplicates that differ in a few bits, a tenth are identical files.
    const like = index % 10 < 2 && known.length > 0 ? known[number() % known.length] : null;
    const flipped = (1n << BigInt(number() % 64)) | (1n << BigInt(number() % 64));
    const phash = like === null ? digits(HEX) : (BigInt(`0x${like.phash}`) ^ flipped).toString(16).padStart(HEX, "0");
    const hash = like !== null && index % 10 === 0 ? like.hash : digits(64);
    if (like === null) known.push({ hash, phash });
    yield {
      url: `https://pictures.test/gallery/${index % 100}/${index}.jpg`,
      name: `${index}.jpg`,
      hash,
      bytes: 100_000 + index,
      content_type: "image/jpeg",
      image: {
        format: "jpeg",
        width: 800,
        height: 600 + (index % 10),
        aspect: 1.333,
        pages: 1,
        animated: false,
        blank: false,
        damaged: false,
        phash: like !== null && index % 10 === 0 ? like.phash : phash,
        wrong_extension: false,
      },
      valid: true,
      reason: null,
    };
  }
}

export const steps = [
  {
    kind: "pictures",
    params: { type: "object", properties: { count: { type: "integer" } } },
    run: (_context, { count }) => ({ output: { count }, items: pictures(count) }),
  },
];
