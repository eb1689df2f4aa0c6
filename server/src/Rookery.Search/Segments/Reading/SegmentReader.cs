using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// An open segment. Thread-safe; the cursors and tables that it returns are not. Every read may throw
/// <see cref="SegmentDamagedException"/>.
/// </summary>
public sealed class SegmentReader : IDisposable
{
    // The objects of an open segment and of each of its fields, measured on a node with 1,581 segments of 7 fields.
    private const int BytesPerSegment = 1280;
    private const int BytesPerField = 512;

    private readonly SegmentFile _file;
    private readonly SegmentPages _pages;
    private readonly SegmentFooter _footer;
    private readonly SegmentField?[] _fields;
    private readonly Lazy<(PackedColumn Addresses, PackedColumn Lengths)> _documents;
    private readonly Lazy<(
        PackedColumn FirstEntries,
        PackedColumn Addresses,
        PackedColumn StoredBytes,
        PackedColumn RawBytes
    )> _stored;

    private SegmentReader(SegmentFile file, SegmentPages pages, SegmentFooter footer)
    {
        _file = file;
        _pages = pages;
        _footer = footer;
        _fields = new SegmentField?[footer.Fields.Count == 0 ? 0 : footer.Fields[^1].Number + 1];
        foreach (var field in footer.Fields)
        {
            _fields[field.Number] = new SegmentField(pages, field);
        }

        _documents = new(() =>
            (new PackedColumn(pages, footer.Documents.Addresses), new PackedColumn(pages, footer.Documents.Lengths))
        );
        _stored = new(() =>
            (
                new PackedColumn(pages, footer.Stored.FirstEntries),
                new PackedColumn(pages, footer.Stored.Addresses),
                new PackedColumn(pages, footer.Stored.StoredBytes),
                new PackedColumn(pages, footer.Stored.RawBytes)
            )
        );
    }

    /// <summary>Number of entries, including dead ones. Entries are numbered from 0.</summary>
    public int Entries => _footer.Entries;

    /// <summary>Entries of terms in the order of other fields.</summary>
    public SortedEntries Sorted => _file.Sorted;

    /// <summary>The file's length in bytes.</summary>
    public long FileBytes => _file.FileBytes;

    /// <summary>The fields, by ascending number.</summary>
    public IEnumerable<SegmentField> Fields => _fields.OfType<SegmentField>();

    /// <summary>Opens a file and reads its header and footer.</summary>
    /// <exception cref="SegmentDamagedException">The file is not a segment of this version, or its header or footer is
    /// damaged.</exception>
    public static SegmentReader Open(IDisk disk, string path, long fileId, SegmentCache cache, IIoRecorder io)
    {
        var opened = disk.Open(path, DiskOpen.Read);
        SegmentFile? pagesOfFile = null;
        try
        {
            pagesOfFile = new SegmentFile(opened, fileId, cache, io);
            var reader = new SegmentReader(pagesOfFile, pagesOfFile, ReadFooter(pagesOfFile, fileId));
            pagesOfFile.Charge(BytesPerSegment + (reader._footer.Fields.Count * BytesPerField));
            return reader;
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

    /// <summary>
    /// Returns a reader of the same segment that adds no pages to the cache, for reading the whole segment. It is
    /// closed with this one.
    /// </summary>
    internal SegmentReader Uncached(out UncachedPages pages) => new(_file, pages = new UncachedPages(_file), _footer);

    /// <summary>Returns a field; null if no entry has a term, word or sort key in it.</summary>
    public SegmentField? Field(int number) => (uint)number < (uint)_fields.Length ? _fields[number] : null;

    /// <summary>Returns a reader of ids and etags by entry.</summary>
    public DocumentTable Documents() => new(_pages, _documents.Value.Addresses, _documents.Value.Lengths, Entries);

    /// <summary>Returns a reader of stored values by entry.</summary>
    public StoredValues Stored() =>
        new(
            _pages,
            _stored.Value.FirstEntries,
            _stored.Value.Addresses,
            _stored.Value.StoredBytes,
            _stored.Value.RawBytes
        );

    /// <summary>Whether any entry has a stored value.</summary>
    public bool HasStored => _footer.Stored.FirstEntries.Count > 0;

    /// <summary>
    /// Returns a cursor over the ids of its documents. <see cref="EntriesOf"/> reads the entries of an id.
    /// </summary>
    public KeyCursor Ids() => new(_pages, _footer.Ids);

    /// <summary>Returns the entries of the current document of a cursor of <see cref="Ids"/>.</summary>
    public (int First, int Count) EntriesOf(KeyCursor ids)
    {
        int at = 0;
        var payload = ids.Payload;
        int first = Varint.ReadInt(payload, ref at);
        int count = Varint.ReadInt(payload, ref at);
        return count > 0 && first <= Entries - count ? (first, count) : throw SegmentFormat.Malformed();
    }

    /// <summary>Reads every page that is not cached and verifies its checksum.</summary>
    public void Verify()
    {
        for (int page = 0; page < _file.Count; page++)
        {
            _file.PageOnce(page);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _file.Dispose();

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
        int bytes = BinaryPrimitives.ReadInt32LittleEndian(
            file.Read(file.Length - sizeof(int), sizeof(int), ref scratch)
        );
        if (bytes < 0 || bytes > file.Length - sizeof(int) - SegmentFormat.HeaderBytes)
        {
            throw file.Damage("the length of its footer is invalid");
        }

        return SegmentFooter.Read(file.Read(file.Length - sizeof(int) - bytes, bytes, ref scratch));
    }
}
