using Rookery.Documents.Apply;
using Rookery.Platform;

namespace Rookery.Documents.Revisions;

/// <summary>
/// The revisions of one document id, also of a deleted document: <c>[format u8][rows varint][depth varint][first etag
/// varint][live etag varint][delete etag varint]</c>. Not in the head of the document, because revisions are removed
/// without a new version of it.
/// </summary>
internal record struct RevisionState
{
    /// <summary>Maximum length of the row.</summary>
    public const int MaxBytes = 1 + (5 * Varint.MaxBytes64);

    private const byte Format = 1;

    /// <summary>Number of the document's rows in the table of revisions.</summary>
    public long Rows { get; set; }

    /// <summary>Number of the newest of these rows that need a newer version to be decoded.</summary>
    public long Depth { get; set; }

    /// <summary>Etag of the oldest row; 0 without rows. Older rows are deleted, and need not be walked over.</summary>
    public long FirstEtag { get; set; }

    /// <summary>
    /// Etag of the document's version that is itself a revision; 0 if there is none. It has no row: the document
    /// contains it.
    /// </summary>
    public long LiveEtag { get; set; }

    /// <summary>Etag of the revision that stands for the deletion of the document; 0 if it exists.</summary>
    public long DeleteEtag { get; set; }

    /// <summary>Number of revisions, with the document's version.</summary>
    public readonly long Count => Rows + (LiveEtag == 0 ? 0 : 1);

    /// <summary>Decodes a row.</summary>
    /// <exception cref="RowFormatException">A newer version wrote it.</exception>
    public static RevisionState Read(ReadOnlySpan<byte> row)
    {
        FormatGuard.Expect(row.Length > 1 && row[0] == Format, "state of revisions");
        int at = 1;
        return new RevisionState
        {
            Rows = (long)Varint.Read(row, ref at),
            Depth = (long)Varint.Read(row, ref at),
            FirstEtag = (long)Varint.Read(row, ref at),
            LiveEtag = (long)Varint.Read(row, ref at),
            DeleteEtag = (long)Varint.Read(row, ref at),
        };
    }

    /// <summary>Writes the row and returns the part of the buffer that it takes.</summary>
    public readonly ReadOnlySpan<byte> Write(Span<byte> buffer)
    {
        buffer[0] = Format;
        int at = 1;
        foreach (long number in (ReadOnlySpan<long>)[Rows, Depth, FirstEtag, LiveEtag, DeleteEtag])
        {
            at += Varint.Write(buffer[at..], (ulong)number);
        }

        return buffer[..at];
    }
}

/// <summary>
/// Describes a version of a document that has revisions, or a revision, in the first byte of the head's part about
/// revisions. The values of its counters follow: see <see cref="RevisionCounters"/>. Numbers are part of the format.
/// </summary>
[Flags]
internal enum RevisionFlags : byte
{
    /// <summary>The document has revisions.</summary>
    None = 0,

    /// <summary>The version became a revision when it was stored.</summary>
    IsRevision = 1,

    /// <summary>A client forced its creation.</summary>
    IsForced = 2,

    /// <summary>The head is shown as a revision, not as the document.</summary>
    IsShown = 4,

    /// <summary>The revision stands for the deletion of the document.</summary>
    IsDelete = 8,
}
