using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Postings;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Writes one segment. The caller first adds the fields by ascending number, each with its terms in order and then its
/// columns. Next it adds all document ids in order, then id, etag and value of every entry. At the end it calls
/// <see cref="Finish"/>. Disposal before that deletes the file.
/// </summary>
internal sealed class SegmentWriter : IDisposable
{
    private readonly SegmentOutput _output;
    private readonly long _fileId;
    private readonly List<SegmentFieldFooter> _fields = [];
    private readonly GrowableBytes _payload = new();
    private readonly KeyTreeWriter _ids;
    private readonly DocumentTableWriter _documents;
    private readonly StoredValuesWriter _stored;
    private KeyTreeWriter _terms;
    private int _field = -1;
    private bool _isText;
    private bool _hasStored;
    private int _entries;

    /// <summary>Creates the file.</summary>
    public SegmentWriter(IDisk disk, string path, long fileId, IIoRecorder io)
    {
        _fileId = fileId;
        _output = new SegmentOutput(disk, path, fileId, io);
        Postings = new PostingsWriter(_output);
        _terms = new KeyTreeWriter(_output);
        _ids = new KeyTreeWriter(_output);
        _documents = new DocumentTableWriter(_output);
        _stored = new StoredValuesWriter(_output);
    }

    /// <summary>Writes the postings of the current term.</summary>
    public PostingsWriter Postings { get; }

    /// <summary>Bytes written so far.</summary>
    public long Position => _output.Position;

    /// <summary>Number of terms of the field so far.</summary>
    public long Terms => _terms.Count;

    /// <summary>Begins a field.</summary>
    public void BeginField(int number, bool hasFrequencies)
    {
        Invariant.Holds(number > _field, "the fields of a segment ascend");
        _field = number;
        _isText = hasFrequencies;
        _terms = new KeyTreeWriter(_output);
    }

    /// <summary>Begins a term, whose postings are added to <see cref="Postings"/>.</summary>
    public PostingsWriter BeginTerm()
    {
        Postings.Begin(_isText);
        return Postings;
    }

    /// <summary>Ends a term. Terms must ascend.</summary>
    public void EndTerm(ReadOnlySpan<byte> term)
    {
        _payload.Clear();
        Postings.Finish(_payload);
        _terms.Add(term, _payload.Written);
    }

    /// <summary>Begins a column of the field, after its terms.</summary>
    public PackedColumnWriter BeginColumn() => new(_output);

    /// <summary>Ends the field.</summary>
    public void EndField(
        bool hasPlainKeys,
        PackedColumnRoot sortOrdinals,
        PackedColumnRoot lengths,
        long entriesWithLength,
        long totalLength
    )
    {
        Invariant.Holds(_fields.Count < SegmentFooter.FieldLimit, "a segment has no more fields than a reader accepts");
        _fields.Add(
            new SegmentFieldFooter(
                _field,
                _isText,
                hasPlainKeys,
                _terms.Finish(),
                sortOrdinals,
                lengths,
                entriesWithLength,
                totalLength
            )
        );
    }

    /// <summary>Adds a document with its entries. Ids must ascend.</summary>
    public void AddId(ReadOnlySpan<byte> id, int firstEntry, int count)
    {
        _payload.Clear();
        _payload.AppendVarint((ulong)firstEntry);
        _payload.AppendVarint((ulong)count);
        _ids.Add(id, _payload.Written);
    }

    /// <summary>Adds the next entry.</summary>
    public void AddEntry(ReadOnlySpan<byte> id, long etag, ReadOnlySpan<byte> value)
    {
        Invariant.Holds(_entries < SegmentFormat.EntryLimit, "a segment has at most 2^28 entries");
        _documents.Add(id, etag);

        // Most indexes store no values, so nothing is written before the first value that is not empty. Then an empty
        // value is written for each earlier entry.
        if (!_hasStored && !value.IsEmpty)
        {
            _hasStored = true;
            for (int i = 0; i < _entries; i++)
            {
                _stored.Add([]);
            }
        }

        if (_hasStored)
        {
            _stored.Add(value);
        }

        _entries++;
    }

    /// <summary>Writes what is buffered and the footer, and syncs.</summary>
    public SegmentSummary Finish()
    {
        var footer = new SegmentFooter
        {
            Entries = _entries,
            Fields = _fields,
            Ids = _ids.Finish(),
            Documents = _documents.Finish(),
            Stored = _stored.Finish(),
        };
        _payload.Clear();
        footer.Write(_payload);
        int bytes = _payload.Length;
        BinaryPrimitives.WriteInt32LittleEndian(_payload.Take(sizeof(int)), bytes);
        _output.Write(_payload.Written);
        return new SegmentSummary(_fileId, _output.Finish(), _entries);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _stored.Dispose();
        _output.Dispose();
    }
}
