using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// A batch of changes of one index in memory: documents with their entries, and deletions. A later version of a
/// document replaces earlier ones, in the batch and in older segments. The order of calls decides, not the etags. For
/// each document: <see cref="BeginDocument"/>, then for each entry <see cref="BeginEntry"/>, its terms,
/// <see cref="EndEntry"/>. A document without entries is only removed. Not thread-safe. Reusable after
/// <see cref="Clear"/>.
/// </summary>
internal sealed class SegmentBuilder : IDisposable
{
    /// <summary>The pseudo field number of document ids among the terms.</summary>
    internal const int IdField = -1;

    private readonly MemoryShare _share;
    private readonly ByteArena _arena;
    private readonly TermTable _terms;
    private BatchField?[] _fields = [];
    private readonly List<BatchDocument> _documents = [];
    private readonly List<BatchEntry> _entries = [];

    // The terms of the current entry: the term number in the upper half, the position in the lower half.
    private readonly List<ulong> _pending = [];
    private readonly GrowableBytes _encoded = new();
    private long _reserved;

    // The sum of the fields' UsedBytes. A batch may have 65,536 fields, so it is not added up for each document.
    private long _fieldBytes;
    private bool _isInEntry;
    private bool _areIdsAscending = true;

    /// <summary>Creates an empty batch.</summary>
    /// <param name="share">The share that memory is reserved from.</param>
    public SegmentBuilder(MemoryShare share)
    {
        _share = share;
        _arena = new ByteArena(share);
        _terms = new TermTable(_arena, share);
    }

    /// <summary>Number of entries, including those replaced within the batch.</summary>
    public int Entries => _entries.Count;

    /// <summary>Number of versions put or deleted. A document that was changed twice counts twice.</summary>
    public int Documents => _documents.Count;

    /// <summary>Memory of the changes, in bytes, without unused capacity; 0 if there are none.</summary>
    public long ContentBytes =>
        _documents.Count == 0
            ? 0
            : _arena.TakenBytes
                + ((long)_terms.Count * TermTable.BytesPerTerm)
                + ((long)_documents.Count * Unsafe.SizeOf<BatchDocument>())
                + ((long)_entries.Count * Unsafe.SizeOf<BatchEntry>());

    /// <summary>Whether memory is short, so that the batch should be applied before the next document.</summary>
    public bool IsOverBudget => _arena.IsOverBudget;

    /// <summary>The share that memory is reserved from.</summary>
    internal MemoryShare Share => _share;

    internal TermTable Terms => _terms;

    /// <summary>The fields by number; null for unused numbers.</summary>
    internal ReadOnlySpan<BatchField?> Fields => _fields;

    internal ReadOnlySpan<BatchEntry> AllEntries => CollectionsMarshal.AsSpan(_entries);

    internal ReadOnlySpan<BatchDocument> AllDocuments => CollectionsMarshal.AsSpan(_documents);

    /// <summary>Deletes a document: all its entries, in this batch and in older segments.</summary>
    public void Delete(ReadOnlySpan<byte> id) => BeginDocument(id, etag: 0);

    /// <summary>
    /// Begins a version of a document, which replaces all earlier ones. Its entries follow, up to the next document.
    /// </summary>
    /// <param name="id">The id in lower case.</param>
    /// <param name="etag">The version's etag.</param>
    public void BeginDocument(ReadOnlySpan<byte> id, long etag)
    {
        Invariant.Holds(!_isInEntry, "an entry is ended before the next document");
        Invariant.Holds(
            id.Length is > 0 and <= SegmentFormat.KeyLimitBytes,
            "an id is not empty and no longer than a term"
        );
        int number = NumberOfId(id);
        ref Term term = ref _terms[number];
        if (term.LastEntry >= 0)
        {
            ref var before = ref CollectionsMarshal.AsSpan(_documents)[term.LastEntry];
            before = before with { IsReplaced = true };
        }

        term.LastEntry = _documents.Count;
        _documents.Add(new BatchDocument(number, etag, _entries.Count, EntryCount: 0, IsReplaced: false));
        Charge();
    }

    /// <summary>Begins an entry of the current document.</summary>
    public void BeginEntry()
    {
        Invariant.Holds(
            !_isInEntry && _documents.Count > 0,
            "an entry belongs to a document and follows the end of the one before"
        );
        _isInEntry = true;
        _entries.Add(new BatchEntry(_documents.Count - 1, StoredAddress: 0, StoredBytes: 0));
        _pending.Clear();
    }

    /// <summary>Adds a term of the entry. Duplicates have no effect.</summary>
    /// <param name="field">The field number. The field has no tokens in any entry.</param>
    /// <param name="term">The term, at most <see cref="SegmentFormat.KeyLimitBytes"/> bytes.</param>
    public void AddTerm(int field, ReadOnlySpan<byte> term) =>
        AddPending(field, term, TermTable.HashOf(field, term), position: 0, isText: false);

    /// <summary>Prefetches the memory for the next tokens, so that looking them up is faster.</summary>
    /// <param name="hashes">The tokens' <see cref="TermTable.HashOf"/>, at most
    /// <see cref="TermTable.MaxPrefetched"/>.</param>
    public void PrefetchTokens(ReadOnlySpan<uint> hashes) => _terms.Prefetch(hashes);

    /// <summary>Adds a token of a text.</summary>
    /// <param name="field">The field number. The field has only tokens in all entries.</param>
    /// <param name="token">The token, at most <see cref="SegmentFormat.KeyLimitBytes"/> bytes.</param>
    /// <param name="position">The position. Several tokens may have the same position, and tokens may come in any
    /// order.</param>
    public void AddToken(int field, ReadOnlySpan<byte> token, int position) =>
        AddToken(field, token, TermTable.HashOf(field, token), position);

    /// <summary>Adds a token whose <see cref="TermTable.HashOf"/> is known.</summary>
    public void AddToken(int field, ReadOnlySpan<byte> token, uint hash, int position)
    {
        Invariant.Holds(position >= 0, "a position is not negative");
        AddPending(field, token, hash, position, isText: true);
    }

    /// <summary>Sets the number of tokens of the entry in a field. Required for an entry with tokens.</summary>
    public void SetLength(int field, int tokens)
    {
        Invariant.Holds(_isInEntry && tokens >= 0, "a length belongs to an entry");
        var state = FieldOf(field);
        long before = state.UsedBytes;
        state.SetLength(_entries.Count - 1, tokens);
        _fieldBytes += state.UsedBytes - before;
    }

    /// <summary>
    /// Sets the sort key of the entry in a field. The key should be one of the entry's terms in the field, so that the
    /// dictionary needs no further term.
    /// </summary>
    public void SetSortKey(int field, ReadOnlySpan<byte> key)
    {
        Invariant.Holds(
            _isInEntry && key.Length <= SegmentFormat.KeyLimitBytes,
            "a sort key belongs to an entry and is no longer than a term"
        );
        var state = FieldOf(field);
        long before = state.UsedBytes;
        state.SetSortTerm(_entries.Count - 1, _terms.Find(field, key));
        _fieldBytes += state.UsedBytes - before;
    }

    /// <summary>Sets the value stored with the entry: a projection or a reduced row.</summary>
    public void SetStored(ReadOnlySpan<byte> value)
    {
        Invariant.Holds(_isInEntry, "a value belongs to an entry");
        CollectionsMarshal.AsSpan(_entries)[^1] = new BatchEntry(
            _documents.Count - 1,
            value.IsEmpty ? 0 : _arena.Add(value),
            value.Length
        );
    }

    /// <summary>Ends the entry.</summary>
    public void EndEntry()
    {
        Invariant.Holds(_isInEntry, "an entry is begun before it ends");
        _isInEntry = false;
        ref var document = ref CollectionsMarshal.AsSpan(_documents)[^1];
        document = document with { EntryCount = document.EntryCount + 1 };
        var sorted = CollectionsMarshal.AsSpan(_pending);
        sorted.Sort();
        for (int from = 0; from < sorted.Length; )
        {
            int to = from + 1;
            while (to < sorted.Length && (uint)(sorted[to] >> 32) == (uint)(sorted[from] >> 32))
            {
                to++;
            }

            AddPosting((int)(sorted[from] >> 32), sorted[from..to]);
            from = to;
        }

        Charge();
    }

    /// <summary>Removes all changes and keeps the memory for the next batch.</summary>
    public void Clear()
    {
        _terms.Clear();
        _arena.Clear();
        _documents.Clear();
        _entries.Clear();
        _pending.Clear();
        _isInEntry = false;
        _areIdsAscending = true;
        foreach (var field in _fields)
        {
            field?.Clear();
        }

        _fieldBytes = 0;
    }

    /// <summary>
    /// Copies the encoded postings of a term. For each posting: varint distance from the previous entry; in text fields
    /// twice that, plus 1 if the frequency is 1, otherwise followed by varint frequency; then the positions.
    /// </summary>
    internal void CopyPostings(int term, GrowableBytes sink) => _terms.CopyTo(term, sink);

    /// <summary>Returns the stored value of an entry.</summary>
    internal ReadOnlySpan<byte> StoredOf(in BatchEntry entry) =>
        entry.StoredBytes == 0 ? default : _arena.SpanAt(entry.StoredAddress)[..entry.StoredBytes];

    /// <inheritdoc/>
    public void Dispose()
    {
        _terms.Dispose();
        _arena.Dispose();
        _share.Release(_reserved);
        _reserved = 0;
        _fields = [];
        _fieldBytes = 0;
    }

    /// <summary>Collects the term numbers of the document ids, in the order of ids.</summary>
    internal void CollectIds(SortedTerms target)
    {
        target.Clear();
        if (!_areIdsAscending)
        {
            for (int number = 0; number < _terms.Count; number++)
            {
                if (_terms[number].Field == IdField)
                {
                    target.Add(number);
                }
            }

            target.Sort(_terms);
            return;
        }

        foreach (ref readonly var document in AllDocuments)
        {
            target.Add(document.Id);
        }
    }

    // As long as ids ascend, as in a first build, no id comes twice. Then the look-up and the sort of ids are skipped,
    // which saves a quarter of the time to index short documents.
    private int NumberOfId(ReadOnlySpan<byte> id)
    {
        if (_areIdsAscending)
        {
            if (_documents.Count == 0 || id.SequenceCompareTo(_terms.KeyOf(_documents[^1].Id)) > 0)
            {
                return _terms.AddUnlinked(IdField, id);
            }

            _areIdsAscending = false;
            _terms.LinkAll();
        }

        return _terms.Find(IdField, id);
    }

    private void AddPending(int field, ReadOnlySpan<byte> term, uint hash, int position, bool isText)
    {
        Invariant.Holds(
            _isInEntry && field >= 0 && term.Length <= SegmentFormat.KeyLimitBytes,
            "a term belongs to an entry and a field and has a limit"
        );
        var state = FieldOf(field);
        Invariant.Holds((state.IsText ??= isText) == isText, "a field has either tokens or terms");
        _pending.Add(((ulong)(uint)_terms.Find(field, term, hash) << 32) | (uint)position);
    }

    private BatchField FieldOf(int number)
    {
        if (number >= _fields.Length)
        {
            Array.Resize(ref _fields, Math.Max(number + 1, 2 * _fields.Length));
        }

        return _fields[number] ??= new BatchField();
    }

    private void AddPosting(int number, ReadOnlySpan<ulong> places)
    {
        ref Term term = ref _terms[number];
        int entry = _entries.Count - 1;
        ulong distance = (ulong)(entry - term.LastEntry);
        term.LastEntry = entry;
        _encoded.Clear();
        var field = _fields[term.Field]!;
        if (field.IsText != true)
        {
            field.HasPlainKeys &= field.SortTermOf(entry) == number;
            _encoded.AppendVarint(distance);
        }
        else
        {
            _encoded.AppendVarint((distance << 1) | (places.Length == 1 ? 1u : 0));
            if (places.Length != 1)
            {
                _encoded.AppendVarint((ulong)places.Length);
            }

            uint before = 0;
            foreach (ulong place in places)
            {
                _encoded.AppendVarint((uint)place - before);
                before = (uint)place;
            }
        }

        _terms.Append(number, _encoded.Written);
    }

    private void Charge()
    {
        long bytes =
            ((long)_documents.Capacity * Unsafe.SizeOf<BatchDocument>())
            + ((long)_entries.Capacity * Unsafe.SizeOf<BatchEntry>())
            + ((long)_pending.Capacity * sizeof(ulong))
            + _fieldBytes;
        if (bytes > _reserved)
        {
            _share.Reserve(bytes - _reserved);
            _reserved = bytes;
        }
    }
}

/// <summary>A version of a document in a batch.</summary>
/// <param name="Id">The term number of its id.</param>
/// <param name="Etag">Its etag.</param>
/// <param name="FirstEntry">Its first entry in the batch.</param>
/// <param name="EntryCount">Number of its entries.</param>
/// <param name="IsReplaced">Whether a later version in the batch replaces it.</param>
internal readonly record struct BatchDocument(int Id, long Etag, int FirstEntry, int EntryCount, bool IsReplaced);

/// <summary>An entry in a batch.</summary>
/// <param name="Document">The number of its document in the batch.</param>
/// <param name="StoredAddress">The address of its stored value.</param>
/// <param name="StoredBytes">The length of its stored value; 0 for none.</param>
internal readonly record struct BatchEntry(int Document, int StoredAddress, int StoredBytes);
