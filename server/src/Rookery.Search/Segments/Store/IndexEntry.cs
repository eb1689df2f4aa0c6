using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// What an index holds of one document: an entry, or several of them, each of terms, words of texts, sort keys and a
/// stored value. Reused from document to document, so that nothing is allocated for one.
/// </summary>
/// <remarks>
/// A map writes the parts of an entry in any order and calls <see cref="EndEntry"/> behind each. A field has either
/// terms or words in all entries of an index.
/// </remarks>
public sealed class IndexEntry
{
    // A document of 6 MB may have three million elements: more of them than a small node has memory for.
    private const int MostParts = 1 << 17;
    private const int MostBytes = 8 << 20;
    private const int FirstBytes = 4096;
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

    /// <summary>Whether there is an entry, or a row of map/reduce.</summary>
    public bool HasContent => _parts.Count > 0 || Rows.Count > 0;

    /// <summary>Whether nothing is held of the document.</summary>
    public bool IsEmpty => !HasContent && _loaded.Count == 0;

    /// <summary>Of map/reduce, the rows of the document in the place of entries.</summary>
    public MappedRows Rows { get; } = new();

    /// <summary>How many documents were loaded for it.</summary>
    public int LoadedCount => _loaded.Count;

    /// <summary>Bytes of its parts.</summary>
    public int Bytes => _length;

    /// <summary>Forgets everything.</summary>
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

    /// <summary>Forgets everything but what was loaded.</summary>
    public void ClearContent()
    {
        _parts.Clear();
        Rows.Clear();
    }

    /// <summary>Notes that a document was loaded, or was not there.</summary>
    /// <param name="lowerId">Its lower-cased id.</param>
    /// <param name="isElsewhere">Whether it is in none of the collections that the map names, or was not there: it may
    /// come in any.</param>
    public void AddLoaded(ReadOnlySpan<byte> lowerId, bool isElsewhere)
    {
        lowerId.CopyTo(Room(lowerId.Length));
        _loaded.Add((_length, lowerId.Length, isElsewhere));
        _length += lowerId.Length;
    }

    /// <summary>The lower-cased id of a document that was loaded.</summary>
    public ReadOnlySpan<byte> Loaded(int position) => _bytes.AsSpan(_loaded[position].Offset, _loaded[position].Length);

    /// <summary>Whether it is in none of the collections that the map names, or was not there.</summary>
    public bool IsLoadedElsewhere(int position) => _loaded[position].IsElsewhere;

    /// <summary>Adds a term; once is as good as twice.</summary>
    /// <param name="field">A number of the index's map.</param>
    /// <param name="term">At most <see cref="SegmentFormat.KeyLimitBytes"/> bytes.</param>
    public void Add(int field, ReadOnlySpan<byte> term)
    {
        term.CopyTo(Room(term.Length));
        Added(field, term.Length);
    }

    /// <summary>Room for a term that is written in place.</summary>
    public Span<byte> Room(int bytes)
    {
        if (_bytes.Length - _length < bytes)
        {
            Array.Resize(ref _bytes, Math.Max(2 * _bytes.Length, _length + bytes));
        }

        return _bytes.AsSpan(_length, bytes);
    }

    /// <summary>A term was written into the room.</summary>
    public void Added(int field, int length) => Take(PartKind.Term, field, length, 0);

    /// <summary>Adds a word of a text.</summary>
    /// <param name="field">A number of the index's map.</param>
    /// <param name="word">At most <see cref="SegmentFormat.KeyLimitBytes"/> bytes.</param>
    /// <param name="position">Its place, from 0; several words may share one.</param>
    public void AddWord(int field, ReadOnlySpan<byte> word, int position) => Copy(PartKind.Word, field, word, position);

    /// <summary>Says how many words the texts of a field have; needed where there are any, once for an entry.</summary>
    public void SetWordCount(int field, int words) => Take(PartKind.Length, field, 0, words);

    /// <summary>Says by what the entry is sorted in a field; best one of its terms there.</summary>
    public void SetSortKey(int field, ReadOnlySpan<byte> key) => Copy(PartKind.SortKey, field, key, 0);

    /// <summary>Says what is given back with the entry.</summary>
    public void SetStored(ReadOnlySpan<byte> value) => Copy(PartKind.Stored, 0, value, 0);

    /// <summary>Ends an entry; what follows belongs to the next one of the same document.</summary>
    public void EndEntry() => Take(PartKind.EndOfEntry, 0, 0, 0);

    /// <summary>Adds the entries to a batch, in whose last document they are.</summary>
    internal void WriteTo(SegmentBuilder batch)
    {
        bool isOpen = false;
        Span<uint> hashes = stackalloc uint[TermTable.MostTouched];
        int announcedFrom = 0;
        int announcedTo = 0;
        for (int i = 0; i < _parts.Count; i++)
        {
            var part = _parts[i];
            if (part.Kind == PartKind.Word && i >= announcedTo)
            {
                announcedFrom = i;
                announcedTo = AnnounceWords(batch, i, hashes);
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
                    batch.AddToken(part.Field, bytes, hashes[i - announcedFrom], part.Number);
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

    /// <summary>The terms of all its entries, with their fields.</summary>
    internal IEnumerable<(int Field, byte[] Term)> Terms() =>
        _parts
            .Where(static part => part.Kind == PartKind.Term)
            .Select(part => (part.Field, _bytes.AsSpan(part.Offset, part.Length).ToArray()));

    /// <summary>Tells a batch of words that follow each other.</summary>
    /// <returns>The first part behind them.</returns>
    private int AnnounceWords(SegmentBuilder batch, int from, Span<uint> hashes)
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

        batch.Announce(hashes[..count]);
        return from + count;
    }

    private void Copy(PartKind kind, int field, ReadOnlySpan<byte> bytes, int number)
    {
        bytes.CopyTo(Room(bytes.Length));
        Take(kind, field, bytes.Length, number);
    }

    private void Take(PartKind kind, int field, int length, int number)
    {
        if (_parts.Count >= MostParts || _length + length > MostBytes)
        {
            throw new IndexEntryException(
                $"It has more than {MostParts} values, or {MostBytes >> 20} MiB of them, in the fields of the index."
            );
        }

        _parts.Add(new Part(kind, field, _length, length, number));
        _length += length;
    }

    private readonly record struct Part(PartKind Kind, int Field, int Offset, int Length, int Number);
}
