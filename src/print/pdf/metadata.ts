/** What a file says of itself, twice: in its own words (ISO 32000-1, 14.3) and in XMP, as archives read it (ISO 19005-3, 6.6). */
import { type PdfFile, textString } from './file.ts';

export interface Described {
  readonly title: string;
  readonly author: string;
  readonly createdAt: Date;
}

/** Who made the file. */
const maker = 'Certo';

/** Writes both. The instant of issue is the file's date: the same document is the same file. */
export function describe(
  file: PdfFile,
  { title, author, createdAt }: Described,
  objects: { readonly information: number; readonly metadata: number },
): void {
  const instant = createdAt.toISOString().slice(0, 19);
  const day = textString(`D:${instant.replace(/[-:T]/g, '')}Z`);
  file.object(
    objects.information,
    `<</Title${textString(title)}/Author${textString(author)}/Creator${textString(maker)}/Producer${textString(maker)}/CreationDate${day}/ModDate${day}>>`,
  );
  const packet = `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">
<dc:format>application/pdf</dc:format>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">${escaped(title)}</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>${escaped(author)}</rdf:li></rdf:Seq></dc:creator>
<dc:language><rdf:Bag><rdf:li>pt-PT</rdf:li></rdf:Bag></dc:language>
<xmp:CreatorTool>${maker}</xmp:CreatorTool>
<xmp:CreateDate>${instant}Z</xmp:CreateDate>
<xmp:ModifyDate>${instant}Z</xmp:ModifyDate>
<pdf:Producer>${maker}</pdf:Producer>
<pdfaid:part>3</pdfaid:part>
<pdfaid:conformance>A</pdfaid:conformance>
</rdf:Description>
</rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>`;
  file.raw('/Type/Metadata/Subtype/XML', Buffer.from(packet), objects.metadata);
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]!);
}
