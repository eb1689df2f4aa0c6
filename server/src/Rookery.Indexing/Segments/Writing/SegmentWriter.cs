using System.Buffers.Binary;
using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>
/// Writes one segment: fields by ascending number, each with its terms in order and then its columns; then all document ids in order; then id, etag and value of every entry; then
/// <see cref="Finish"/>. Disposing it unfinished deletes the file.
/// </summary>
internal sealed class SegmentWriter : IDisposable
{
    private readonly SegmentOutput output;
    private readonly long fileId;
    private readonly List<SegmentFieldFooter> fields = [];
    private readonly ByteSink payload = new();
    private readonly KeyTreeWriter ids;
    private readonly DocumentTableWriter documents;
    private readonly StoredValuesWriter stored;
    private KeyTreeWriter terms;
    private int field = -1;
    private bool isText;
    private bool hasStored;
    private int entries;

    /// <summary>Creates the file.</summary>
    public SegmentWriter(IDisk disk, string path, long fileId, IIoRecorder io)
    {
        this.fileId = fileId;
        output = new SegmentOutput(disk, path, fileId, io);
        Postings = new PostingsWriter(output);
        terms = new KeyTreeWriter(output);
        ids = new KeyTreeWriter(output);
        documents = new DocumentTableWriter(output);
        stored = new StoredValuesWriter(output);
    }

    /// <summary>Where the postings of the next term go.</summary>
    public PostingsWriter Postings { get; }

    /// <summary>Bytes so far.</summary>
    public long Position => output.Position;

    /// <summary>Terms of the field so far.</summary>
    public long Terms => terms.Count;

    /// <summary>Begins a field.</summary>
    public void BeginField(int number, bool hasFrequencies)
    {
        Invariant.Holds(number > field, "the fields of a segment ascend");
        field = number;
        isText = hasFrequencies;
        terms = new KeyTreeWriter(output);
    }

    /// <summary>Begins a term; then its postings go to <see cref="Postings"/>.</summary>
    public PostingsWriter BeginTerm()
    {
        Postings.Begin(isText);
        return Postings;
    }

    /// <summary>Ends a term, which is higher than the one before.</summary>
    public void EndTerm(ReadOnlySpan<byte> term)
    {
        payload.Clear();
        Postings.Finish(payload);
        terms.Add(term, payload.Span);
    }

    /// <summary>Begins a column of the field, after its terms.</summary>
    public PackedColumnWriter BeginColumn() => new(output);

    /// <summary>Ends the field.</summary>
    public void EndField(bool hasPlainKeys, PackedColumnRoot sortOrdinals, PackedColumnRoot lengths, long entriesWithLength, long totalLength) =>
        fields.Add(new SegmentFieldFooter(field, isText, hasPlainKeys, terms.Finish(), sortOrdinals, lengths, entriesWithLength, totalLength));

    /// <summary>Adds a document, whose id is higher than the one before, and its entries.</summary>
    public void AddId(ReadOnlySpan<byte> id, int firstEntry, int count)
    {
        payload.Clear();
        payload.WriteVarint((ulong)firstEntry);
        payload.WriteVarint((ulong)count);
        ids.Add(id, payload.Span);
    }

    /// <summary>Adds the next entry.</summary>
    public void AddEntry(ReadOnlySpan<byte> id, long etag, ReadOnlySpan<byte> value)
    {
        Invariant.Holds(entries < SegmentFormat.EntryLimit, "a segment has at most 2^28 entries");
        documents.Add(id, etag);

        // Most indexes store nothing: values begin with the first that is there, and those before it are empty.
        if (!hasStored && !value.IsEmpty)
        {
            hasStored = true;
            for (int i = 0; i < entries; i++)
            {
                stored.Add([]);
            }
        }

        if (hasStored)
        {
            stored.Add(value);
        }

        entries++;
    }

    /// <summary>Writes what is left and syncs.</summary>
    public SegmentSummary Finish()
    {
        var footer = new SegmentFooter
        {
            Entries = entries,
            Fields = fields,
            Ids = ids.Finish(),
            Documents = documents.Finish(),
            Stored = stored.Finish(),
        };
        payload.Clear();
        footer.Write(payload);
        int bytes = payload.Length;
        BinaryPrimitives.WriteInt32LittleEndian(payload.Take(sizeof(int)), bytes);
        output.Write(payload.Span);
        return new SegmentSummary(fileId, output.Finish(), entries);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        stored.Dispose();
        output.Dispose();
    }
}
