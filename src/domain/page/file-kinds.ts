/** File extensions of URLs that are not HTML pages with links. */
const FILES: Readonly<Record<string, string>> = {
  images: "jpg jpeg jpe png gif webp avif svg ico bmp tif tiff heic heif psd ai eps raw cr2 nef",
  audio: "mp3 m4a aac wav flac ogg oga opus wma mid midi aif aiff",
  video: "mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp ogv m3u8 mpd",
  documents:
    "pdf doc docx docm dot dotx odt rtf xls xlsx xlsm ods ppt pptx pps ppsx odp epub mobi azw3 ps djvu pages key numbers",
  archives: "zip gz tgz tar bz2 xz zst 7z rar lz lzma z cab jar war ear",
  programs: "exe msi dmg pkg deb rpm apk ipa appimage iso img bin run bat dll so whl gem crx xpi",
  fonts: "woff woff2 ttf otf eot",
  styles: "css map scss less",
  data: "json jsonl xml rss atom csv tsv parquet sqlite db sql geojson kml kmz gpx ics vcf torrent warc bib ris",
  models: "stl obj fbx glb gltf blend dwg dxf",
};

// `.js`, `.txt`, `.md` and `.com` are omitted on purpose: `/wiki/Node.js` and `/company/example.com` are pages.
const ENDINGS: ReadonlySet<string> = new Set(Object.values(FILES).flatMap((endings) => endings.split(" ")));

/** Files that are read like pages. */
const READABLE: ReadonlySet<string> = new Set(
  "pdf docx docm dotx xlsx xlsm pptx ppsx odt ods odp epub rtf csv tsv".split(" "),
);

export function isDocumentEnding(ending: string): boolean {
  return READABLE.has(ending);
}

/** The extension in lower case, if the path looks like a file; null: it may be a page. */
export function fileEnding(pathname: string): string | null {
  const name = pathname.slice(pathname.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  if (dot < 1) return null;
  const ending = name.slice(dot + 1).toLowerCase();
  return ENDINGS.has(ending) ? ending : null;
}
