using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// The entries of one document in an index. Each entry has terms, words of texts, sort keys and a stored value. One
/// object is reused for all documents, so that no document causes an allocation.
/// </summary>
/// <remarks>
/// A map writes the parts of an entry in any order and calls <see cref="EndEntry"/> after each entry. In all entries of
/// an index, a field has either terms or words.
/// </remarks>
public sealed class IndexEntry
{
    // These limits bound the memory of one document. Without them, 6 MB of JSON with three million elements would
    // exceed the memory of a small node.
    private const int MaxParts = 1 << 17;
    private const int MaxBytes = 8 << 20;
    private const int FirstBytes = 4096;

    // Larger buffers are released when the next document begins.
    private const int KeptBytes = 256 << 10;
    private const int KeptParts = 8192;

    private readonly List<Part> _parts = [];
    private readonly List<(int Offset, int Length, bool IsElsewhere)> _loaded = [];
    private byte[] _bytes = new byte[FirstBytes];
    private int _length;

    private enum PartKind : byte
    {
        Term,
        Word,
        Length,
        SortKey,
        Stored,
        EndOfEntry,
    }

    /// <summary>Whether there is an entry, or a row of a map/reduce index.</summary>
    public bool HasContent => _parts.Count > 0 || Rows.Count > 0;

    /// <summary>Whether there are neither entries nor rows nor loaded documents.</summary>
    public bool IsEmpty => !HasContent && _loaded.Count == 0;

    /// <summary>The rows of the document, which a map/reduce index has instead of entries.</summary>
    public MappedRows Rows { get; } = new();

    /// <summary>Number of documents that the map loaded.</summary>
    public int LoadedCount => _loaded.Count;

    /// <summary>Total bytes of the parts.</summary>
    public int Bytes => _length;

    /// <summary>Removes everything.</summary>
    public void Clear()
    {
        ClearContent();
        _loaded.Clear();
        _length = 0;
        if (_bytes.Length > KeptBytes)
        {
            _bytes = new byte[FirstBytes];
        }

        if (_parts.Capacity > KeptParts)
        {
            _parts.Capacity = KeptParts;
        }
    }

    /// <summary>Removes everything but the loaded documents.</summary>
    public void ClearContent()
    {
        _parts.Clear();
        Rows.Clear();
        _length = _loaded.Count == 0 ? 0 : _loaded[^1].Offset + _loaded[^1].Length;
    }

    /// <summary>Records that the map loaded a document, or tried to.</summary>
    /// <param name="lowerId">The document's id in lower case.</param>
    /// <param name="isElsewhere">Whether the document does not exist (it may be created in any collection), or is in
    /// none of the collections that the map names.</param>
    public void AddLoaded(ReadOnlySpan<byte> lowerId, bool isElsewhere)
    {
        lowerId.CopyTo(Room(lowerId.Length));
        _loaded.Add((_length, lowerId.Length, isElsewhere));
        _length += lowerId.Length;
    }

    /// <summary>Returns the lower-case id of a loaded document.</summary>
    public ReadOnlySpan<byte> Loaded(int position) => _bytes.AsSpan(_loaded[position].Offset, _loaded[position].Length);

    /// <summary>
    /// Returns whether a loaded document does not exist or is in none of the collections that the map names.
    /// </summary>
    public bool IsLoadedElsewhere(int position) => _loaded[position].IsElsewhere;

    /// <summary>Adds a term. Duplicates have no effect.</summary>
    /// <param name="field">The field number.</param>
    /// <param name="term">The bytes, at most <see cref="SegmentFormat.KeyLimitBytes"/>.</param>
    public void Add(int field, ReadOnlySpan<byte> term)
    {
        term.CopyTo(Room(term.Length));
        AddWrittenTerm(field, term.Length);
    }

    /// <summary>Returns a buffer for a term. <see cref="AddWrittenTerm"/> adds the term after it was written.</summary>
    public Span<byte> Room(int bytes)
    {
        if (_bytes.Length - _length < bytes)
        {
            Array.Resize(ref _bytes, Math.Max(Math.Min(2 * _bytes.Length, MaxBytes), _length + bytes));
        }

        return _bytes.AsSpan(_length, bytes);
    }

    /// <summary>Adds the term that was written into <see cref="Room"/>.</summary>
    public void AddWrittenTerm(int field, int length) => AddPart(PartKind.Term, field, length, 0);

    /// <summary>Adds a word of a text.</summary>
    /// <param name="field">The field number.</param>
    /// <param name="word">The bytes, at most <see cref="SegmentFormat.KeyLimitBytes"/>.</param>
    /// <param name="position">The position in the text, from 0. Several words may have the same position.</param>
    public void AddWord(int field, ReadOnlySpan<byte> word, int position) =>
        AddCopy(PartKind.Word, field, word, position);

    /// <summary>Sets the number of words of a field in the entry. Required once for each entry with words.</summary>
    public void SetWordCount(int field, int words) => AddPart(PartKind.Length, field, length: 0, words);

    /// <summary>
    /// Sets the sort key of the entry in a field. The key should be one of the entry's terms in the field.
    /// </summary>
    public void SetSortKey(int field, ReadOnlySpan<byte> key) => AddCopy(PartKind.SortKey, field, key, 0);

    /// <summary>Sets the value stored with the entry.</summary>
    public void SetStored(ReadOnlySpan<byte> value) => AddCopy(PartKind.Stored, field: 0, value, 0);

    /// <summary>Ends an entry. Further parts belong to the next entry of the same document.</summary>
    public void EndEntry() => AddPart(PartKind.EndOfEntry, field: 0, length: 0, 0);

    /// <summary>Adds the entries to the current document of a batch.</summary>
    internal void WriteTo(SegmentBuilder batch)
    {
        bool isOpen = false;
        Span<uint> hashes = stackalloc uint[TermTable.MaxPrefetched];
        int prefetchedFrom = 0;
        int prefetchedTo = 0;
        for (int i = 0; i < _parts.Count; i++)
        {
            var part = _parts[i];
            if (part.Kind == PartKind.Word && i >= prefetchedTo)
            {
                prefetchedFrom = i;
                prefetchedTo = PrefetchWords(batch, i, hashes);
            }

            if (!isOpen)
            {
                batch.BeginEntry();
                isOpen = true;
            }

            var bytes = _bytes.AsSpan(part.Offset, part.Length);
            switch (part.Kind)
            {
                case PartKind.Term:
                    batch.AddTerm(part.Field, bytes);
                    break;
                case PartKind.Word:
                    batch.AddToken(part.Field, bytes, hashes[i - prefetchedFrom], part.Number);
                    break;
                case PartKind.Length:
                    batch.SetLength(part.Field, part.Number);
                    break;
                case PartKind.SortKey:
                    batch.SetSortKey(part.Field, bytes);
                    break;
                case PartKind.Stored:
                    batch.SetStored(bytes);
                    break;
                default:
                    batch.EndEntry();
                    isOpen = false;
                    break;
            }
        }

        if (isOpen)
        {
            batch.EndEntry();
        }
    }

    /// <summary>Returns the terms of all entries, with their fields.</summary>
    internal IEnumerable<(int Field, byte[] Term)> Terms() =>
        _parts
            .Where(static part => part.Kind == PartKind.Term)
            .Select(part => (part.Field, _bytes.AsSpan(part.Offset, part.Length).ToArray()));

    /// <summary>
    /// Prefetches the memory for consecutive words in a batch, see <see cref="SegmentBuilder.PrefetchTokens"/>.
    /// </summary>
    /// <returns>The index of the first part after them.</returns>
    private int PrefetchWords(SegmentBuilder batch, int from, Span<uint> hashes)
    {
        int count = 0;
        for (
            ;
            count < hashes.Length
                && from + count < _parts.Count
                && _parts[from + count] is { Kind: PartKind.Word } word;
            count++
        )
        {
            hashes[count] = TermTable.HashOf(word.Field, _bytes.AsSpan(word.Offset, word.Length));
        }

        batch.PrefetchTokens(hashes[..count]);
        return from + count;
    }

    private void AddCopy(PartKind kind, int field, ReadOnlySpan<byte> bytes, int number)
    {
        bytes.CopyTo(Room(bytes.Length));
        AddPart(kind, field, bytes.Length, number);
    }

    private void AddPart(PartKind kind, int field, int length, int number)
    {
        if (_parts.Count >= MaxParts || _length + length > MaxBytes)
        {
            throw new IndexEntryException(
                $"The document has more than {MaxParts} values, or {MaxBytes >> 20} MiB of them, in the fields of the "
                    + "index."
            );
        }

        _parts.Add(new Part(kind, field, _length, length, number));
        _length += length;
    }

    // Number is the position of a word, or the number of words of a field; 0 for other parts.
    private readonly record struct Part(PartKind Kind, int Field, int Offset, int Length, int Number);
}
