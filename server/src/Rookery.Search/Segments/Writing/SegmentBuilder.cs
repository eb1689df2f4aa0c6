using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// A batch of changes of one index in memory: documents with their entries, and documents that are to be gone. A
/// document that comes again replaces what came before, in the batch as well as in older segments; order is that of the
/// calls, not that of etags. Per document <see cref="BeginDocument"/>, then per entry <see cref="BeginEntry"/>, its
/// terms,
/// <see cref="EndEntry"/>; a document without entries is only removed. One thread. Used again after
/// <see cref="Clear"/>.
/// </summary>
internal sealed class SegmentBuilder : IDisposable
{
    /// <summary>The field that document ids have among the terms.</summary>
    internal const int IdField = -1;

    private readonly MemoryShare _share;
    private readonly ByteArena _arena;
    private readonly TermTable _terms;
    private BatchField?[] _fields = [];
    private readonly List<BatchDocument> _documents = [];
    private readonly List<BatchEntry> _entries = [];
    private readonly List<ulong> _pending = [];
    private readonly GrowableBytes _encoded = new();
    private long _reserved;
    private bool _isInEntry;
    private bool _areIdsAscending = true;

    /// <summary>An empty batch.</summary>
    /// <param name="share">What its memory is charged to.</param>
    public SegmentBuilder(MemoryShare share)
    {
        _share = share;
        _arena = new ByteArena(share);
        _terms = new TermTable(_arena, share);
    }

    /// <summary>Entries, those that were replaced within the batch included.</summary>
    public int Entries => _entries.Count;

    /// <summary>Documents that were put or deleted; one that came twice counts twice.</summary>
    public int Documents => _documents.Count;

    /// <summary>
    /// Bytes that the changes take, without the memory that is kept for more of them. 0 when there are none.
    /// </summary>
    public long ContentBytes =>
        _documents.Count == 0
            ? 0
            : _arena.TakenBytes
                + ((long)_terms.Count * TermTable.BytesPerTerm)
                + ((long)_documents.Count * Unsafe.SizeOf<BatchDocument>())
                + ((long)_entries.Count * Unsafe.SizeOf<BatchEntry>());

    /// <summary>Whether memory is short: the batch should be applied before the next document.</summary>
    public bool IsOverBudget => _arena.IsOverBudget;

    internal TermTable Terms => _terms;

    /// <summary>The fields by number; null for numbers without one.</summary>
    internal ReadOnlySpan<BatchField?> Fields => _fields;

    internal ReadOnlySpan<BatchEntry> AllEntries => CollectionsMarshal.AsSpan(_entries);

    internal ReadOnlySpan<BatchDocument> AllDocuments => CollectionsMarshal.AsSpan(_documents);

    /// <summary>Removes a document: all its entries, in this batch and in all older segments.</summary>
    public void Delete(ReadOnlySpan<byte> id) => BeginDocument(id, 0);

    /// <summary>
    /// Begins a version of a document, which replaces all others. Until the next document its entries follow.
    /// </summary>
    /// <param name="id">The lower-cased id.</param>
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
        _documents.Add(new BatchDocument(number, etag, _entries.Count, 0, IsReplaced: false));
        Charge();
    }

    /// <summary>Begins an entry of the document.</summary>
    public void BeginEntry()
    {
        Invariant.Holds(
            !_isInEntry && _documents.Count > 0,
            "an entry belongs to a document and follows the end of the one before"
        );
        _isInEntry = true;
        _entries.Add(new BatchEntry(_documents.Count - 1, 0, 0));
        _pending.Clear();
    }

    /// <summary>Adds a term of the entry; once is as good as twice.</summary>
    /// <param name="field">The field's number, which has no tokens in any entry.</param>
    /// <param name="term">The term, at most 512 bytes.</param>
    public void AddTerm(int field, ReadOnlySpan<byte> term) =>
        AddPending(field, term, TermTable.HashOf(field, term), 0, isText: false);

    /// <summary>Says which tokens come next, so that they are looked up faster.</summary>
    /// <param name="hashes">Up to <see cref="TermTable.MostTouched"/> of <see cref="TermTable.HashOf"/>.</param>
    public void Announce(ReadOnlySpan<uint> hashes) => _terms.Touch(hashes);

    /// <summary>Adds a token of a text.</summary>
    /// <param name="field">The field's number, which has only tokens in all entries.</param>
    /// <param name="token">The token, at most 512 bytes.</param>
    /// <param name="position">Its place; several tokens may share one, and they may come in any order.</param>
    public void AddToken(int field, ReadOnlySpan<byte> token, int position) =>
        AddToken(field, token, TermTable.HashOf(field, token), position);

    /// <summary>The same, where the <see cref="TermTable.HashOf"/> is known.</summary>
    public void AddToken(int field, ReadOnlySpan<byte> token, uint hash, int position)
    {
        Invariant.Holds(position >= 0, "a position is not negative");
        AddPending(field, token, hash, position, isText: true);
    }

    /// <summary>Says how many tokens the entry's text has. An entry with tokens needs it.</summary>
    public void SetLength(int field, int tokens)
    {
        Invariant.Holds(_isInEntry && tokens >= 0, "a length belongs to an entry");
        FieldOf(field).SetLength(_entries.Count - 1, tokens);
    }

    /// <summary>
    /// Says by what the entry is sorted in a field. It should be one of the entry's terms there: the dictionary then
    /// holds it once.
    /// </summary>
    public void SetSortKey(int field, ReadOnlySpan<byte> key)
    {
        Invariant.Holds(
            _isInEntry && key.Length <= SegmentFormat.KeyLimitBytes,
            "a sort key belongs to an entry and is no longer than a term"
        );
        FieldOf(field).SetSortTerm(_entries.Count - 1, _terms.Find(field, key));
    }

    /// <summary>Says what is given back with the entry: a projected value or a result.</summary>
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

    /// <summary>Forgets all changes and keeps the memory for the next batch.</summary>
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
    }

    /// <summary>
    /// Copies what a term's postings are: per posting varint distance to the entry before, of text times 2, plus 1 when
    /// it stands there once, else varint frequency; positions.
    /// </summary>
    internal void CopyPostings(int term, GrowableBytes sink) => _terms.CopyTo(term, sink);

    /// <summary>The value of an entry.</summary>
    internal ReadOnlySpan<byte> StoredOf(in BatchEntry entry) =>
        entry.StoredBytes == 0 ? default : _arena.At(entry.StoredAddress)[..entry.StoredBytes];

    /// <inheritdoc/>
    public void Dispose()
    {
        _terms.Dispose();
        _arena.Dispose();
        _share.Release(_reserved);
        _reserved = 0;
        _fields = [];
    }

    /// <summary>The terms that are ids of documents, in order.</summary>
    internal void CollectIds(SortedTerms target)
    {
        if (!_areIdsAscending)
        {
            target.Collect(_terms, IdField);
            return;
        }

        target.Clear();
        foreach (ref readonly var document in AllDocuments)
        {
            target.Add(document.Id);
        }
    }

    // A first build comes in the order of ids: none comes twice then, and looking for each, and sorting them, took a
    // quarter of a build of short documents.
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
            Array.Resize(ref _fields, number + 1);
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
        long now =
            ((long)_documents.Capacity * Unsafe.SizeOf<BatchDocument>())
            + ((long)_entries.Capacity * Unsafe.SizeOf<BatchEntry>())
            + ((long)_pending.Capacity * sizeof(ulong));
        foreach (var field in _fields)
        {
            now += field?.UsedBytes ?? 0;
        }

        if (now > _reserved)
        {
            _share.Reserve(now - _reserved);
            _reserved = now;
        }
    }
}

/// <summary>A version of a document in a batch.</summary>
/// <param name="Id">The number of its id among the terms.</param>
/// <param name="Etag">Its etag.</param>
/// <param name="FirstEntry">Its first entry.</param>
/// <param name="EntryCount">How many it has.</param>
/// <param name="IsReplaced">Whether a later one of the batch takes its place.</param>
internal readonly record struct BatchDocument(int Id, long Etag, int FirstEntry, int EntryCount, bool IsReplaced);

/// <summary>An entry in a batch.</summary>
/// <param name="Document">Its document.</param>
/// <param name="StoredAddress">Where its value is.</param>
/// <param name="StoredBytes">How long that is.</param>
internal readonly record struct BatchEntry(int Document, int StoredAddress, int StoredBytes);
