using System.Buffers.Binary;
using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>
/// One segment, open. Any number of threads may read; what they walk with (cursors, tables) is each one's own. Every read may throw <see cref="SegmentDamagedException"/>.
/// </summary>
internal sealed class SegmentReader : IDisposable
{
    private readonly SegmentFile file;
    private readonly SegmentPages pages;
    private readonly SegmentFooter footer;
    private readonly SegmentField?[] fields;
    private readonly Lazy<(PackedColumn Addresses, PackedColumn Lengths)> documents;
    private readonly Lazy<(PackedColumn FirstEntries, PackedColumn Addresses, PackedColumn StoredBytes, PackedColumn RawBytes)> stored;

    private SegmentReader(SegmentFile file, SegmentPages pages, SegmentFooter footer)
    {
        this.file = file;
        this.pages = pages;
        this.footer = footer;
        fields = new SegmentField?[footer.Fields.Count == 0 ? 0 : footer.Fields[^1].Number + 1];
        foreach (var field in footer.Fields)
        {
            fields[field.Number] = new SegmentField(pages, field, footer.Entries);
        }

        documents = new(() => (new PackedColumn(pages, footer.Documents.Addresses), new PackedColumn(pages, footer.Documents.Lengths)));
        stored = new(() => (
            new PackedColumn(pages, footer.Stored.FirstEntries),
            new PackedColumn(pages, footer.Stored.Addresses),
            new PackedColumn(pages, footer.Stored.StoredBytes),
            new PackedColumn(pages, footer.Stored.RawBytes)));
    }

    /// <summary>Its entries, dead ones included; they are numbered from 0.</summary>
    public int Entries => footer.Entries;

    /// <summary>The file's length in bytes.</summary>
    public long FileBytes => file.FileBytes;

    /// <summary>Its fields, by ascending number.</summary>
    public IEnumerable<SegmentField> Fields => fields.OfType<SegmentField>();

    /// <summary>Opens a file and reads what is at its beginning and its end.</summary>
    /// <exception cref="SegmentDamagedException">It is not a segment of this version, or damaged there.</exception>
    public static SegmentReader Open(IDisk disk, string path, long fileId, SegmentCache cache, IIoRecorder io)
    {
        var opened = disk.Open(path, DiskOpen.Read);
        SegmentFile? pagesOfFile = null;
        try
        {
            pagesOfFile = new SegmentFile(opened, fileId, cache, io);
            return new SegmentReader(pagesOfFile, pagesOfFile, ReadFooter(pagesOfFile, fileId));
        }
        catch (Exception failure)
        {
            (pagesOfFile as IDisposable ?? opened).Dispose();
            if (failure is InvalidDataException)
            {
                throw new SegmentDamagedException(path, failure.Message);
            }

            throw;
        }
    }

    /// <summary>The same segment, for a walk over all of it that keeps nothing in the cache. It is closed with this one.</summary>
    public SegmentReader Passing(out PassingPages passing) => new(file, passing = new PassingPages(file), footer);

    /// <summary>A field; null when no entry has anything in it.</summary>
    public SegmentField? Field(int number) => (uint)number < (uint)fields.Length ? fields[number] : null;

    /// <summary>A reader of ids and etags by entry.</summary>
    public DocumentTable Documents() => new(pages, documents.Value.Addresses, documents.Value.Lengths, Entries);

    /// <summary>A reader of stored values by entry.</summary>
    public StoredValues Stored() => new(pages, stored.Value.FirstEntries, stored.Value.Addresses, stored.Value.StoredBytes, stored.Value.RawBytes);

    /// <summary>Whether any entry has a stored value.</summary>
    public bool HasStored => footer.Stored.FirstEntries.Count > 0;

    /// <summary>A walk over the ids of its documents; what belongs to an id is read with <see cref="EntriesOf"/>.</summary>
    public KeyCursor Ids() => new(pages, footer.Ids);

    /// <summary>The entries of the document on which a walk over <see cref="Ids"/> stands.</summary>
    public (int First, int Count) EntriesOf(KeyCursor ids)
    {
        int at = 0;
        var payload = ids.Payload;
        int first = Varint.ReadInt(payload, ref at);
        int count = Varint.ReadInt(payload, ref at);
        return count > 0 && first <= Entries - count ? (first, count) : throw Varint.Malformed();
    }

    /// <summary>Reads every page that is not in memory and checks it.</summary>
    public void Verify()
    {
        for (int page = 0; page < file.Count; page++)
        {
            file.PageOnce(page);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => file.Dispose();

    private static SegmentFooter ReadFooter(SegmentFile file, long fileId)
    {
        if (file.Length < SegmentFormat.HeaderBytes + sizeof(int))
        {
            throw file.Damage("it is too short");
        }

        if (SegmentFormat.CheckHeader(file.Page(0), fileId) is { } reason)
        {
            throw file.Damage(reason);
        }

        byte[] scratch = [];
        int bytes = BinaryPrimitives.ReadInt32LittleEndian(file.Read(file.Length - sizeof(int), sizeof(int), ref scratch));
        if (bytes < 0 || bytes > file.Length - sizeof(int) - SegmentFormat.HeaderBytes)
        {
            throw file.Damage("its footer has no length");
        }

        return SegmentFooter.Read(file.Read(file.Length - sizeof(int) - bytes, bytes, ref scratch));
    }
}
